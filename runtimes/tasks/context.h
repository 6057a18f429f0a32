// SPDX-License-Identifier: BSD-3-Clause
// Tasks that any rank of a communicator may run. A rank submits tasks. While ranks wait, tasks are
// lent (offloaded) to idle ranks, which run them and return the results.
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
#include <source_location>
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

/// Thrown by wait on the rank that submitted a task, if the task ended with an exception on any
/// rank. The outputs of a failed task may be old, new or partly written. The text names the task's
/// function and With::name, the rank that ran the task and, if an argument is in(…), out(…) or
/// inout(…), the source line that submitted the task.
class TaskFailed : public std::runtime_error {
 public:
  TaskFailed(const Failure& first, std::size_t num_failures);
};

/// How a context runs tasks.
struct ContextOptions {
  unsigned threads = 1;  // threads that run tasks, including the thread that calls wait
  // Settings as text, for example "policy=paired,pull=0"; docs/tasks.md lists all settings. If a
  // setting is also given by a POISE_TASKS_* variable, the variable wins.
  std::string settings = {};
  Policy policy = {};
};

/// Deprecated: the earlier name of ContextOptions, so that older programs still compile.
using Options [[deprecated("call it ContextOptions")]] = ContextOptions;

/// Properties of a task besides its arguments.
struct With {
  // Expected cost relative to other tasks of the same function. 0: the task counts as taking no
  // time, so the policy `cost` sees no reason to lend it.
  double cost = 1;
  std::int32_t priority = 0;
  bool pinned = false;     // true: the task is never lent
  std::uint64_t name = 0;  // passed to the program's own policy
  // Ranks that get a copy of the task ahead of time. The task runs only once: on this rank or on
  // one of these ranks, whichever has a free thread first.
  std::vector<std::uint32_t> replicas = {};
  // Values that the program attaches to the task. The program's own policy can read them, and so
  // can the task itself on the rank where it runs.
  Annotations annotations = {};
  // The task runs after the earlier ordered tasks of this rank that access the same data. A child
  // depends only on other children of its parent, never on the parent, which may wait for it.
  bool ordered = false;
  // Called once, on this rank, when the outputs are in place or the task has failed. The callback
  // may submit tasks, which get the same parent as this task, but it must not wait. If it throws,
  // the task counts as failed.
  std::function<void()> on_finish = {};
  // Called once, on this rank, before the task is first lent or replicated. The callback may change
  // Item::data and Item::bytes of the arguments and the result, for example to add data that only a
  // lent task needs. Decisions about lending, and the setting batch_bytes, use the sizes of the
  // items at submission, so submit items that are about as large as the callback will make them.
  // The callback must not call the context. If it throws, the task counts as failed.
  std::function<void(std::span<Item>)> on_lend = {};
};

/// The result of a task, valid after the wait.
template <typename T>
class Future {
 public:
  bool ready() const { return state_->ready.load(std::memory_order_acquire); }
  const T& get() const {
    if (!ready())
      fail(
          "Future::get() was called for a task that has failed or has not ended, so there is no "
          "result; call wait first");
    return state_->value;
  }

 private:
  friend class Context;
  struct State {
    T value{};
    Buffer bytes;  // the serialized value, if the type needs an archive
    std::atomic<bool> ready{false};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class Runtime;

/// Submits, runs and waits for the tasks of one communicator. The constructor, wait and the
/// destructor are collective. Several contexts may exist at the same time.
class Context {
 public:
  /// Needs MPI with at least MPI_THREAD_FUNNELED. Throws Error on all ranks if the program's
  /// settings are wrong or the ranks registered different functions, and SystemError on all ranks
  /// if a rank cannot start its threads. Wrong POISE_TASKS_* variables end the job with one line on
  /// stderr and exit status 2.
  explicit Context(MPI_Comm communicator, ContextOptions options = {});
  /// Waits for all tasks and drops their exceptions. While an exception unwinds the stack, the
  /// destructor does not wait, because other ranks may never reach it.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Adds a task; any thread and any task may call it. Values are copied; referenced data must stay
  /// valid until the task is done. No task runs before the program waits. Returns a Future if the
  /// function returns a value.
  template <typename Result, typename... Parameters, typename... Arguments>
  auto submit(const Function<Result, Parameters...>& function, const Arguments&... arguments) {
    return add(nullptr, function, arguments...);
  }
  template <typename Result, typename... Parameters, typename... Arguments>
  auto submit(With with, const Function<Result, Parameters...>& function,
              const Arguments&... arguments) {
    return add(&with, function, arguments...);
  }

  /// Like submit above, but the arguments are not checked at compile time: `items` must be in the
  /// order of the function's parameters. If the task succeeds, `deliver` is called before
  /// With::on_finish; if it fails, `deliver` is not called.
  void submit(With with, FunctionId function, std::span<const Item> items,
              std::function<void()> deliver = {}) {
    add(&with, function, items, {}, std::move(deliver));
  }

  /// Runs tasks until no rank has an unfinished one. Every rank must call it, even without tasks.
  /// If tasks of this rank failed, throws TaskFailed when all tasks have ended. If several threads
  /// of the program wait together, `team` is their number; with MPI_THREAD_FUNNELED, the main
  /// thread must be one of them.
  ///
  /// A call inside a task of this context is not collective. It waits for that task's children, and
  /// throws TaskFailed if some of them failed. Failures of children for which their parent never
  /// waited are thrown by the wait outside of tasks, on the rank that ran the parent.
  void wait(unsigned team = 1);

  /// Polls for messages. Long tasks may call it now and then, so that other ranks are answered.
  void poll();

  /// Runs one queued task if there is one, and returns whether it did. May be called by tasks, and
  /// by the program before it waits. Runs nothing if too many tasks are nested on the stack of this
  /// thread.
  bool yield();

  std::uint32_t rank() const;
  std::uint32_t num_ranks() const;

  /// Allocates memory that the ranks of this node read and write in place when tasks are lent:
  /// `std::pmr::vector<double> row(n, context.memory());`. Free it before the context is destroyed.
  /// Where ranks cannot share memory, this is ordinary memory.
  std::pmr::memory_resource* memory();
  Counters counters() const;
  /// Returns the counters of all ranks as a table on rank 0, and an empty text on other ranks.
  /// Collective.
  std::string summary();

  /// Returns facts about the task that the calling thread runs. Throws Error outside of tasks.
  Self self() const;

  /// Returns the context of the task that the calling thread runs. Throws Error outside of tasks.
  static Context& current();

 private:
  template <typename Result, typename... Parameters, typename... Arguments>
  auto add(With* with, const Function<Result, Parameters...>& function,
           const Arguments&... arguments);
  // If `with` is not null, the function moves the members out of `*with`.
  void add(With* with, FunctionId function, std::span<const Item> items,
           std::source_location submitted_at, std::function<void()>&& deliver = {});

  std::unique_ptr<Runtime> runtime_;
};

namespace detail {

/// Converts the argument that a program passes for a parameter into the item that a task stores.
template <typename Parameter>
struct Argument {
  using Copy = std::conditional_t<RawBytes<Parameter>, Parameter, Buffer>;
  template <typename Given>
  static Item item(const Given& given, Copy& copy) {
    static_assert(std::is_convertible_v<const Given&, Parameter>,
                  "the argument does not convert to the type of the parameter");
    if constexpr (RawBytes<Parameter>) {
      copy = given;
      return Item::of(&copy, sizeof(Parameter), Mode::literal);
    } else {
      poise::Writer{copy}(static_cast<const Parameter&>(given));
      return {copy.data(), copy.size(), Mode::literal};
    }
  }
};

/// Makes an item that refers to the data of an in(…), out(…) or inout(…); nothing is copied.
template <typename T>
struct Argument<std::span<T>> {
  struct Copy {};  // empty: a span refers to the caller's data, which are not copied
  template <typename U, Mode mode>
  static Item item(const Reference<U, mode>& given, Copy&) {
    static_assert(std::is_same_v<std::remove_const_t<U>, std::remove_const_t<T>>,
                  "the span of the function has another element type");
    static_assert(std::is_const_v<T> == (mode == Mode::in),
                  "std::span<const T> takes in(…), std::span<T> takes out(…) or inout(…)");
    return Item::of(const_cast<std::remove_const_t<T>*>(given.data.data()), given.data.size_bytes(),
                    mode);
  }
};

// Returns the source line that submits a task, which in(…), out(…) and inout(…) record. If all
// arguments are passed by value, the line is unknown.
inline std::source_location submitted_at() { return {}; }
template <typename T, Mode mode, typename... Rest>
std::source_location submitted_at(const Reference<T, mode>& first, const Rest&...) {
  return first.where;
}
template <typename First, typename... Rest>
std::source_location submitted_at(const First&, const Rest&... rest) {
  return submitted_at(rest...);
}

}  // namespace detail

template <typename Result, typename... Parameters, typename... Arguments>
auto Context::add(With* with, const Function<Result, Parameters...>& function,
                  const Arguments&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "give one argument per parameter");
  // Holds the values of the arguments until add() has copied them into the task.
  std::tuple<typename detail::Argument<Parameters>::Copy...> copies{};
  auto items = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Item, sizeof...(Parameters) + !std::is_void_v<Result>>{
        detail::Argument<Parameters>::item(arguments, std::get<i>(copies))...};
  }(std::index_sequence_for<Parameters...>());
  const std::source_location where = detail::submitted_at(arguments...);
  if constexpr (std::is_void_v<Result>) {
    add(with, function.id, items, where);
  } else {
    Future<Result> future;
    auto& state = *future.state_;
    if constexpr (RawBytes<Result>)
      items.back() = {&state.value, sizeof(Result), Mode::out};
    else
      items.back() = {&state.bytes, 0, Mode::result};
    add(with, function.id, items, where, [state = future.state_] {
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
