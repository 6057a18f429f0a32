// SPDX-License-Identifier: BSD-3-Clause

#include "faces/c/poise_tasks.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/tasks/context.h"

#include "poise/base/error.h"

namespace tasks = poise::tasks;

namespace {

thread_local std::string last_error;
/// The text that the task on this thread passed to poise_task_fail.
thread_local std::optional<std::string> failure;

int fails(int result, const char* why) noexcept {
  try {
    last_error = why;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return result;
}

// Runs a call of the C++ interface. Converts an exception to a result code.
template <typename Call>
int guarded(Call call) {
  try {
    call();
    return POISE_OK;
  } catch (const poise::SystemError& error) {
    return fails(POISE_FAILED, error.what());
  } catch (const poise::Error& error) {
    return fails(POISE_BAD_INPUT, error.what());
  } catch (const std::bad_alloc&) {
    return fails(POISE_FAILED, "there is not enough memory");
  } catch (const std::exception& exception) {
    return fails(POISE_FAILED, exception.what());
  }
}

tasks::Context& context_of(poise_tasks* context) {
  if (context == nullptr) poise::fail("the context is null; create one with poise_tasks_create");
  return *reinterpret_cast<tasks::Context*>(context);
}

// While a task waits, its thread may run another task. This object keeps the failure of the waiting
// task until the other task ends, and then restores it.
class OwnFailure {
 public:
  OwnFailure() : before_(std::exchange(failure, std::nullopt)) {}
  ~OwnFailure() { failure = std::move(before_); }

 private:
  std::optional<std::string> before_;
};

void call(poise_task_function function, std::span<const tasks::Item> items) {
  std::vector<void*> data;
  std::vector<std::size_t> bytes;
  for (const tasks::Item& item : items) {
    data.push_back(item.data);
    bytes.push_back(item.bytes);
  }
  const OwnFailure own;
  function(data.data(), bytes.data(), items.size());
  if (failure) throw std::runtime_error(*failure);
}

// Returns the number that C passed as an enum. The number may differ from all values of the enum.
// Reading it as an enum would then be undefined behaviour in C++, so its bytes are copied.
template <typename Enum>
int number_of(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

tasks::Mode mode_of(int mode) {
  switch (mode) {
    case POISE_IN: return tasks::Mode::in;
    case POISE_OUT: return tasks::Mode::out;
    case POISE_INOUT: return tasks::Mode::inout;
    case POISE_LITERAL: return tasks::Mode::literal;
  }
  poise::fail("poise_item::mode is {}; it must be a value of poise_mode", mode);
}

// Throws Error if `count` is negative, or if `count` is above 0 although the array is null.
void check_list(const char* what, const void* begin, int count) {
  if (count < 0) poise::fail("{}: count is {}; it must be 0 or more", what, count);
  if (count > 0 && !begin)
    poise::fail("{}: count is {}, but the pointer to the array is null", what, count);
}

poise::Annotations annotations_of(const poise_with& with) {
  check_list("annotations", with.annotations, with.num_annotations);
  poise::Annotations annotations;
  for (int i = 0; i < with.num_annotations; ++i) {
    const poise_annotation& given = with.annotations[i];
    const int kind = number_of(given.kind);
    if (!given.name || (kind == POISE_TEXT && !given.text))
      poise::fail(
          "an annotation has a null name, or its kind is POISE_TEXT and its text is null; set "
          "both");
    switch (kind) {
      case POISE_INTEGER: annotations.set(given.name, given.integer); break;
      case POISE_REAL: annotations.set(given.name, given.real); break;
      case POISE_TEXT: annotations.set(given.name, std::string(given.text)); break;
      default:
        poise::fail("annotation \"{}\": kind is {}; it must be a value of poise_kind", given.name,
                    kind);
    }
  }
  return annotations;
}

// Returns an annotation of the task that runs on this thread, or null if the task has no annotation
// of this name and type.
template <typename T>
const T* annotation(const char* name) {
  const T* value = nullptr;
  guarded([&] { value = tasks::Context::current().self().annotations.get<T>(name ? name : ""); });
  return value;
}

template <typename T>
int copy_annotation(const char* name, T* value) {
  const T* found = annotation<T>(name);
  if (found && value) *value = *found;
  return found != nullptr;
}

std::vector<std::uint32_t> replicas_of(const poise_with& with) {
  check_list("replicas", with.replicas, with.num_replicas);
  std::vector<std::uint32_t> ranks;
  for (int i = 0; i < with.num_replicas; ++i) {
    if (with.replicas[i] < 0)
      poise::fail("poise_with::replicas contains rank {}; ranks are 0 or more", with.replicas[i]);
    ranks.push_back(with.replicas[i]);
  }
  return ranks;
}

tasks::With with_of(const poise_with& with) {
  tasks::With how;
  if (!(with.cost >= 0) || std::isinf(with.cost))
    poise::fail("poise_with::cost is {}; it must be a finite number of 0 or more", with.cost);
  if (with.cost > 0) how.cost = with.cost;
  how.priority = with.priority;
  how.pinned = with.pinned != 0;
  how.ordered = with.ordered != 0;
  how.annotations = annotations_of(with);
  how.replicas = replicas_of(with);
  if (with.on_finish)
    how.on_finish = [f = with.on_finish, argument = with.argument] { f(argument); };
  return how;
}

}  // namespace

const char* poise_tasks_last_error(void) { return last_error.c_str(); }

int poise_tasks_register(const char* name, poise_task_function function, poise_function* id) {
  return guarded([&] {
    if (!name || !function || !id)
      poise::fail("poise_tasks_register: name, function and id must not be null");
    *id = tasks::register_function(
        name, "C", [function](std::span<const tasks::Item> items) { call(function, items); });
  });
}

int poise_tasks_create(MPI_Comm communicator, int threads, const char* settings,
                       poise_tasks** context) {
  return guarded([&] {
    if (!context) poise::fail("poise_tasks_create: context must not be null");
    tasks::ContextOptions options;
    options.threads = threads;  // Context refuses negative numbers on all ranks
    if (settings) options.settings = settings;
    *context = reinterpret_cast<poise_tasks*>(new tasks::Context(communicator, std::move(options)));
  });
}

int poise_tasks_create_fortran(MPI_Fint communicator, int threads, const char* settings,
                               poise_tasks** context) {
  return poise_tasks_create(MPI_Comm_f2c(communicator), threads, settings, context);
}

// Waits before it destroys the context, because the context's destructor drops the errors of tasks.
// Does not wait after MPI_Finalize or while an exception unwinds the stack: the destructor handles
// these cases.
int poise_tasks_destroy(poise_tasks* context) {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  const bool waits = context && !is_finalized && std::uncaught_exceptions() == 0;
  const int waited = waits ? poise_tasks_wait(context) : POISE_OK;
  const int destroyed = guarded([&] { delete &context_of(context); });
  return destroyed == POISE_OK ? waited : destroyed;
}

void* poise_tasks_allocate(poise_tasks* context, size_t bytes) {
  void* data = nullptr;
  guarded([&] {
    // An allocator may round the size up, and the rounded size might overflow. So sizes above
    // 2^63 - 1 are refused.
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max())
      poise::fail("poise_tasks_allocate: cannot allocate {} bytes of memory", bytes);
    data = context_of(context).memory()->allocate(bytes);
  });
  return data;
}

int poise_tasks_free(poise_tasks* context, void* data) {
  return guarded([&] {
    // deallocate() ignores its second argument, the size: the arena knows the sizes of its blocks.
    if (data) context_of(context).memory()->deallocate(data, 0);
  });
}

int poise_tasks_submit(poise_tasks* context, poise_function function, const poise_item* items,
                       int num_items, const poise_with* with) {
  return guarded([&] {
    check_list("items", items, num_items);
    std::vector<tasks::Item> copies;
    for (int i = 0; i < num_items; ++i)
      copies.push_back({items[i].data, items[i].bytes, mode_of(number_of(items[i].mode))});
    context_of(context).submit(with ? with_of(*with) : tasks::With{}, function, copies);
  });
}

int poise_tasks_wait(poise_tasks* context) { return poise_tasks_wait_team(context, 1); }

int poise_tasks_wait_team(poise_tasks* context, int num_threads) {
  return guarded([&] {
    if (num_threads < 1)
      poise::fail("poise_tasks_wait_team: num_threads is {}; it must be at least 1", num_threads);
    context_of(context).wait(num_threads);
  });
}

int poise_tasks_yield(poise_tasks* context, int* ran) {
  return guarded([&] {
    const bool any = context_of(context).yield();
    if (ran) *ran = any;
  });
}

int poise_tasks_poll(poise_tasks* context) {
  return guarded([&] { context_of(context).poll(); });
}

poise_tasks* poise_tasks_current(void) {
  tasks::Context* current = nullptr;
  guarded([&] { current = &tasks::Context::current(); });
  return reinterpret_cast<poise_tasks*>(current);
}

void poise_task_fail(const char* text) {
  if (!failure) failure = text && *text ? text : "no reason given";
}

int poise_task_integer(const char* name, int64_t* value) { return copy_annotation(name, value); }
int poise_task_real(const char* name, double* value) { return copy_annotation(name, value); }
int poise_task_text(const char* name, const char** value) {
  const auto* text = annotation<std::string>(name);
  if (text && value) *value = text->c_str();
  return text != nullptr;
}
