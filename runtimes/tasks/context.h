// Tasks that any rank of a communicator may run: submitted on one rank, lent to others while ranks
// wait, results brought home.
//
//     const auto scale = tasks::function("scale", [](std::span<double> x, double by) { … });
//     …
//     tasks::Context context(MPI_COMM_WORLD, {.threads = 4});
//     for (auto& row : rows) context.submit(scale, tasks::inout(row), 0.5);
//     context.wait();
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mpi.h>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/tasks/counters.h"
#include "runtimes/tasks/policy.h"
#include "runtimes/tasks/pool/task.h"
#include "runtimes/tasks/start/function.h"

#include "poise/base/error.h"
#include "poise/workload/annotations.h"

namespace poise::tasks {

/// A task ended with an exception, on whichever rank; thrown by wait on the rank that submitted it.
class TaskFailed : public std::runtime_error {
 public:
  TaskFailed(const Failure& first, std::size_t num_failures);
};

struct Options {
  unsigned threads = 1;  // that run tasks, with the one that waits among them
  std::string settings =
      {};  // "policy=paired,pull=0"; see settings.h. Variables have the last word
  Policy policy = {};
};

/// What may be said of a task besides its arguments.
struct With {
  double cost = 1;  // relative to other tasks of the same function
  std::int32_t priority = 0;
  bool pinned = false;     // runs on this rank
  std::uint64_t name = 0;  // for the program's own policy
  // Ranks that get a copy of the task ahead of time. Whoever has a thread free first runs it, once.
  std::vector<std::uint32_t> replicas = {};
  Annotations annotations =
      {};  // for the program's own policy and the task itself, wherever it runs
  // After earlier ordered tasks of this rank that touch the same data; a task's own come after one
  // another only, as it may wait for them.
  bool ordered = false;
  // On this rank, once, when the outputs are in place or the task has failed. It may submit, but
  // not wait; if it throws, the task has failed.
  std::function<void()> on_finish = {};
  // On this rank, once, before the task leaves it: may give the items their data, for those whose
  // data would be made in vain if the task stays. Must not call the context. If it throws, the task
  // has failed.
  std::function<void(std::span<Item>)> on_lend = {};
};

/// The result of a task, there after the wait.
template <typename T>
class Future {
 public:
  bool ready() const { return state_->ready.load(std::memory_order_acquire); }
  const T& get() const {
    if (!ready()) fail("the result of a task is not there yet, or never will be; wait first");
    return state_->value;
  }

 private:
  friend class Context;
  struct State {
    T value{};
    Buffer bytes;  // of the value, if an archive brings it
    std::atomic<bool> ready{false};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class Runtime;

/// Where tasks of one communicator are submitted, run and waited for. Creation, wait and
/// destruction are collective. Several may exist at once.
class Context {
 public:
  /// MPI must be up, with MPI_THREAD_FUNNELED at least. Throws Error, on all ranks together, if
  /// the program's settings are wrong or the ranks did not register the same functions.
  /// POISE_TASKS_* variables that are wrong end the job, with a line and exit status 2.
  explicit Context(MPI_Comm communicator, Options options = {});
  /// Waits for what was submitted; what its tasks threw is lost then. Not where an exception ends
  /// it: other ranks may not be here.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Adds a task; any thread may, and tasks may. Values are copied, referenced data must stay
  /// until the task is done. Nothing runs before a wait. Returns a Future if the function returns.
  template <typename Result, typename... Parameters, typename... Arguments>
  auto submit(const Function<Result, Parameters...>& function, const Arguments&... arguments) {
    return add(nullptr, function, arguments...);
  }
  template <typename Result, typename... Parameters, typename... Arguments>
  auto submit(With with, const Function<Result, Parameters...>& function,
              const Arguments&... arguments) {
    return add(&with, function, arguments...);
  }

  /// The same without the compiler's checks: `items` in the order of the function's parameters.
  /// `deliver` is called before `on_finish`, unless the task failed.
  void submit(With with, FunctionId function, std::span<const Item> items,
              std::function<void()> deliver = {}) {
    add(&with, function, items, std::move(deliver));
  }

  /// Runs tasks until no rank has an unfinished one; every rank has to wait, with or without tasks.
  /// Throws TaskFailed if own tasks failed, all others being done nevertheless. Inside a task:
  /// until the tasks which that task submitted are done, and not collective. When a team of threads
  /// of the program enters, each says how many they are; with MPI_THREAD_FUNNELED the main thread
  /// is one of them.
  void wait(unsigned team = 1);

  /// Looks at messages. For long tasks, which may call it now and then.
  void poll();

  /// Runs one task, if there is one, inside a wait or before it. Returns whether there was.
  bool yield();

  std::uint32_t rank() const;
  std::uint32_t num_ranks() const;

  /// Gives out memory whose data ranks of this node read and write in place when tasks are lent:
  /// `std::pmr::vector<double> row(n, context.memory());`. It must be given back before the context
  /// ends. Where memory cannot be shared it is ordinary.
  std::pmr::memory_resource* memory();
  Counters counters() const;
  /// All ranks' counters as a table, on rank 0; collective.
  std::string summary();

  /// Of the task that the calling thread runs, while it does; Error outside of tasks.
  Self self() const;

  /// The context of the task that the calling thread runs; Error outside of tasks.
  static Context& current();

 private:
  template <typename Result, typename... Parameters, typename... Arguments>
  auto add(With* with, const Function<Result, Parameters...>& function,
           const Arguments&... arguments);
  // What is said of a task is taken from there; of most nothing is.
  void add(With* with, FunctionId function, std::span<const Item> items,
           std::function<void()>&& deliver = {});

  std::unique_ptr<Runtime> runtime_;
};

namespace detail {

template <typename Parameter>
struct Argument {
  using Copy = std::conditional_t<RawBytes<Parameter>, Parameter, Buffer>;
  template <typename Given>
  static Item item(const Given& given, Copy& copy) {
    static_assert(std::is_convertible_v<const Given&, Parameter>,
                  "the function wants another type");
    if constexpr (RawBytes<Parameter>) {
      copy = given;
      return Item::of(&copy, sizeof(Parameter), Mode::literal);
    } else {
      poise::Writer{copy}(static_cast<const Parameter&>(given));
      return {copy.data(), copy.size(), Mode::literal};
    }
  }
};

template <typename T>
struct Argument<std::span<T>> {
  struct Copy {};  // none
  template <typename U, Mode mode>
  static Item item(const Reference<U, mode>& given, Copy&) {
    static_assert(std::is_same_v<std::remove_const_t<U>, std::remove_const_t<T>>,
                  "the function's span has elements of another type");
    static_assert(std::is_const_v<T> == (mode == Mode::in),
                  "std::span<const T> takes in(…), std::span<T> takes out(…) or inout(…)");
    return Item::of(const_cast<std::remove_const_t<T>*>(given.data.data()), given.data.size_bytes(),
                    mode);
  }
};

}  // namespace detail

template <typename Result, typename... Parameters, typename... Arguments>
auto Context::add(With* with, const Function<Result, Parameters...>& function,
                  const Arguments&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "one argument for each parameter");
  std::tuple<typename detail::Argument<Parameters>::Copy...> copies{};  // copied again by submit
  auto items = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Item, sizeof...(Parameters) + !std::is_void_v<Result>>{
        detail::Argument<Parameters>::item(arguments, std::get<i>(copies))...};
  }(std::index_sequence_for<Parameters...>());
  if constexpr (std::is_void_v<Result>) {
    add(with, function.id, items);
  } else {
    Future<Result> future;
    auto& state = *future.state_;
    if constexpr (RawBytes<Result>)
      items.back() = {&state.value, sizeof(Result), Mode::out};
    else
      items.back() = {&state.bytes, 0, Mode::result};
    add(with, function.id, items, [state = future.state_] {
      if constexpr (!RawBytes<Result>) {
        poise::Reader(state->bytes.bytes())(state->value);
        state->bytes = Buffer();
      }
      state->ready.store(true, std::memory_order_release);
    });
    return future;
  }
}

}  // namespace poise::tasks
