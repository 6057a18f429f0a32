// SPDX-License-Identifier: BSD-3-Clause
// CHAMELEON's functions, implemented with Poise's tasks.
#include <array>
#include <atomic>
#include <chameleon.h>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <sched.h>
#include <thread>
#include <unordered_map>

#include "faces/chameleon/call.h"
#include "faces/chameleon/guard.h"
#include "faces/chameleon/ids.h"
#include "faces/chameleon/image.h"
#include "faces/chameleon/settings.h"
#include "faces/chameleon/task.h"
#include "faces/chameleon/tool.h"
#include "runtimes/tasks/context.h"
#include "runtimes/tasks/start/end_job.h"
#include "runtimes/tasks/start/variable_notes.h"

#include "poise/base/error.h"
#include "poise/base/variables.h"

// omp_get_num_threads and GOMP_taskyield come from the OpenMP library of the program. If the
// program has no such library, their addresses are null, and there is one thread.
extern "C" int omp_get_num_threads(void) __attribute__((weak));
extern "C" void GOMP_taskyield(void) __attribute__((weak));

namespace {

namespace tasks = poise::tasks;
namespace face = poise::chameleon;

std::recursive_mutex mutex;  // guards the following
std::unique_ptr<tasks::Context> context;
// The tasks of this rank by id. They exist until the rank's wait for all tasks ends.
std::unordered_map<int, std::unique_ptr<cham_migratable_task_t>> live;
// The sizes in bytes of data that a compiler's plug-in submitted, by the address of the data.
std::unordered_map<void*, std::size_t> submitted;
std::optional<face::Ids> ids;  // created when the program first needs a context

std::atomic<std::int32_t> num_created{0};
std::atomic<int> num_leaving{0};
thread_local int last_added = -1;
thread_local bool last_run_was_local = true;

// Data that are sent with the arguments of a task. `task` is the address of the task on the rank
// that owns it.
struct Travelling {
  face::CodeAddress code;
  std::uint32_t num_offsets;  // the offsets are in the next item
  std::uint32_t tool_items;   // 1 if an item with a tool's data follows the arguments, else 0
  int id;
  cham_migratable_task_t* task;
};

thread_local face::Met running_here;

/// Returns the arguments with which a task's code is called. `items` are the task's items except
/// the first, which holds `travelling`. The argument for a literal is its value; the argument for
/// other data is the address of the data on this rank.
std::vector<void*> arguments_of(const Travelling& travelling, std::span<const tasks::Item> items) {
  std::vector<std::ptrdiff_t> offsets(travelling.num_offsets);
  if (!offsets.empty()) {
    std::memcpy(offsets.data(), items[0].data, items[0].bytes);
    items = items.subspan(1);
  }
  std::vector<void*> arguments(items.size() - travelling.tool_items);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    void*& value = arguments[i] = items[i].data;
    if (items[i].mode == tasks::Mode::literal)
      std::memcpy(&value, items[i].data, sizeof value);
    else if (!offsets.empty() && value)
      value = static_cast<char*>(value) + offsets[i];
  }
  return arguments;
}

int type_of(tasks::Mode mode) {
  switch (mode) {
    case tasks::Mode::literal: return CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_LITERAL;
    case tasks::Mode::inout: return CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_FROM;
    case tasks::Mode::out: return CHAM_OMP_TGT_MAPTYPE_FROM;
    default: return CHAM_OMP_TGT_MAPTYPE_TO;
  }
}

/// Fills `visitor`, which represents a task of another rank while this rank runs it. The task and
/// the tools on this rank read from `visitor` what they want to know about the task.
void fill_visitor(cham_migratable_task_t& visitor, const Travelling& travelling,
                  std::span<void* const> arguments, std::span<const tasks::Item> items,
                  const poise::Annotations& annotations) {
  const std::size_t first = items.size() - travelling.tool_items - arguments.size();
  visitor.id = travelling.id;
  visitor.entry = face::code_at(travelling.code);
  if (!annotations.empty())
    visitor.annotations = std::make_unique<chameleon_annotations_t>(annotations);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    visitor.arguments.push_back(
        {arguments[i], items[first + i].bytes, type_of(items[first + i].mode)});
  const bool has_tool_data = travelling.tool_items > 0 && items.back().data;
  if (has_tool_data && face::tool_data_travels())
    face::decode_tool_data(&visitor, items.back().data, items.back().bytes);
}

/// An object of this type exists while this thread runs a task. It tells tools about the start and
/// the end of the task.
class Running {
 public:
  explicit Running(const face::Met& now) : now_(now), before_(std::exchange(running_here, now)) {
    if (const auto us = face::ask_delay_us(now.task, num_created); us > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(us));
    face::tell_scheduled(now_, before_.task ? cham_t_task_yield : cham_t_task_start, before_);
  }
  ~Running() {
    face::tell_scheduled(now_, cham_t_task_end, before_);
    running_here = before_;
    last_run_was_local = now_.flag & cham_t_task_local;
  }

 private:
  const face::Met now_, before_;
};

void run(std::span<const tasks::Item> items) {
  Travelling travelling;
  std::memcpy(&travelling, items[0].data, sizeof travelling);
  const std::vector<void*> arguments = arguments_of(travelling, items.subspan(1));
  const tasks::Context& here = tasks::Context::current();
  const tasks::Self self = here.self();
  const bool local = self.home == here.rank();
  cham_migratable_task_t visitor;
  if (!local) fill_visitor(visitor, travelling, arguments, items, self.annotations);
  const face::Met now{local ? travelling.task : &visitor, face::flag_of(local, self.replicated)};
  const Running running(now);
  face::call(now.task->entry, arguments);
}

/// Called when the copy of a replicated task on this rank is cancelled, because another copy was
/// started.
void cancelled(std::span<const tasks::Item> items, const tasks::Self& self, int rank) {
  Travelling travelling;
  std::memcpy(&travelling, items[0].data, sizeof travelling);
  const bool local = self.home == static_cast<std::uint32_t>(rank);
  cham_migratable_task_t visitor;
  if (!local)
    fill_visitor(visitor, travelling, arguments_of(travelling, items.subspan(1)), items,
                 self.annotations);
  face::tell_scheduled({local ? travelling.task : &visitor, face::flag_of(local, self.replicated)},
                       cham_t_task_cancel, running_here);
}

// The runtime learns task times per registered function. All ranks must register functions at the
// start, before it is known which code the tasks will run. So kNumFunctions functions are
// registered that differ only in name, and a hash of the position of a task's code selects one of
// them. Two pieces of code may get the same function by chance; their times are then learned
// together.
constexpr std::size_t kNumFunctions = 64;
const auto kFunctions = [] {
  std::array<tasks::FunctionId, kNumFunctions> functions;
  for (std::size_t i = 0; i < kNumFunctions; ++i)
    functions[i] = tasks::register_function(fmt::format("chameleon {}", i), "any", run);
  return functions;
}();

tasks::FunctionId function_of(const face::CodeAddress& code) {
  const std::uint64_t mixed = (code.image ^ code.offset) * 0x9e3779b97f4a7c15u;
  return kFunctions[(mixed >> 32) % kNumFunctions];
}

int32_t complain(const char* text) {
  face::say(text);
  return CHAM_FAILURE;
}

tasks::Context& started() {
  if (!context) poise::fail("chameleon_init has not been called; call it first");
  return *context;
}

tasks::Mode mode_of(int type) {
  if (type & CHAM_OMP_TGT_MAPTYPE_LITERAL) return tasks::Mode::literal;
  const bool to = type & CHAM_OMP_TGT_MAPTYPE_TO, from = type & CHAM_OMP_TGT_MAPTYPE_FROM;
  if (from) return to ? tasks::Mode::inout : tasks::Mode::out;
  return tasks::Mode::in;
}

/// Finds a task by its id. Tasks of another rank are found only while they run here.
cham_migratable_task_t* find_task(int id) {
  if (running_here.task && running_here.task->id == id) return running_here.task;
  const std::lock_guard lock(mutex);
  const auto found = live.find(id);
  return found == live.end() ? nullptr : found->second.get();
}

std::vector<tasks::Item> items_of(cham_migratable_task_t& task, Travelling& travelling) {
  std::vector<tasks::Item> items = {{&travelling, sizeof travelling, tasks::Mode::literal}};
  if (!task.offsets.empty())
    items.push_back(
        {task.offsets.data(), task.offsets.size() * sizeof(std::ptrdiff_t), tasks::Mode::literal});
  for (auto& argument : task.arguments) {
    const tasks::Mode mode = mode_of(argument.type);
    if (mode == tasks::Mode::literal)
      items.push_back({&argument.valptr, sizeof(void*), mode});
    else
      items.push_back({argument.valptr, argument.size, mode});
  }
  if (travelling.tool_items > 0) items.push_back({nullptr, 0, tasks::Mode::literal});
  return items;
}

tasks::With with_of(cham_migratable_task_t* task, int num_ranks) {
  tasks::With with;
  if (face::tool_data_travels())
    with.on_lend = [task](std::span<tasks::Item> leaving) {
      auto& data = task->travelling_tool_data = face::encode_tool_data(task);
      leaving.back().data = data.data();
      leaving.back().bytes = data.size();
    };
  with.name = task->id;
  for (const int rank : task->replication_ranks)
    if (rank >= 0 && rank < num_ranks) with.replicas.push_back(rank);
  if (task->annotations) with.annotations = task->annotations->values;
  with.pinned = task->pinned;
  with.ordered = task->ordered;
  with.on_finish = [task] {
    {
      const std::lock_guard lock(mutex);
      task->finished = true;
    }
    for (const auto& done : task->on_finish) done.function(done.argument);
  };
  return with;
}

void add(cham_migratable_task_t* task, const void* code) {
  tasks::Context& here = started();
  Travelling travelling{face::address_of(task->entry),
                        static_cast<std::uint32_t>(task->offsets.size()),
                        face::tool_data_travels() ? 1u : 0u, task->id, task};
  const auto items = items_of(*task, travelling);
  last_added = task->id;
  face::tell_created(task, code);
  here.submit(with_of(task, here.num_ranks()), function_of(travelling.code), items);
}

int32_t add_once(cham_migratable_task_t* task, const void* code) {
  if (!task) return complain("chameleon_add_task: the task is null");
  if (std::exchange(task->added, true))
    return complain("chameleon_add_task: the task has been added already; add each task once");
  return face::guarded<int32_t>(CHAM_FAILURE, [&] { return add(task, code), CHAM_SUCCESS; });
}

cham_migratable_task_t* create(void* code, int num_arguments,
                               const chameleon_map_data_entry_t* arguments) {
  if (num_arguments < 0 || static_cast<std::size_t>(num_arguments) > face::kMaxArguments)
    poise::fail("chameleon_create_task: {} arguments were given; a task may have 0 to {}",
                num_arguments, face::kMaxArguments);
  if (!code || (num_arguments > 0 && !arguments))
    poise::fail("chameleon_create_task: neither the function nor the arguments may be null");
  auto task = std::make_unique<cham_migratable_task_t>();
  task->entry = code;
  task->arguments.assign(arguments, arguments + num_arguments);
  const std::lock_guard lock(mutex);
  started();
  const auto id = ids->next([](int used) { return live.contains(used); });
  if (!id)
    poise::fail(
        "chameleon_create_task: no task id is free, because {} tasks exist; wait for tasks first",
        live.size());
  task->id = *id;
  ++num_created;
  return (live[*id] = std::move(task)).get();
}

/// Returns the settings that follow from CHAMELEON's environment variables, or an empty text if
/// none of them sets a threshold. Ends the job if a value is wrong.
std::string settings_of_environment() {
  std::string settings, error;
  try {
    settings = face::settings_of([](const char* name) { return std::getenv(name); });
  } catch (const poise::Error& wrong) {
    error = wrong.what();
  }
  tasks::end_job_on_error(MPI_COMM_WORLD, error);
  return settings;
}

void start() {
  int up = 0, over = 0, level = 0, rank = 0, num_ranks = 1;
  MPI_Initialized(&up);
  if (!up) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  MPI_Finalized(&over);
  if (over) poise::fail("MPI is finalized; call chameleon_init before MPI_Finalize");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  std::string settings = settings_of_environment();
  tasks::note_variables(MPI_COMM_WORLD, poise::reader::tasks | poise::reader::chameleon);
  if (!ids) ids.emplace(rank, num_ranks);
  face::tool_finds_tasks_by(find_task);
  face::start_tool(rank, num_ranks);
  tasks::ContextOptions options;
  options.policy = face::policy_of_tool();
  options.policy.cancelled = [rank](std::span<const tasks::Item> items, const tasks::Self& self) {
    cancelled(items, self, rank);
  };
  const bool tool_decides = options.policy.decide != nullptr;
  if (!tool_decides) options.settings = std::move(settings);
  context = std::make_unique<tasks::Context>(MPI_COMM_WORLD, std::move(options));
}

// Keeps the threads of the waiting team here until all have arrived, like a barrier of OpenMP. The
// last thread drops the finished tasks.
void leave_together(int team) {
  const int round = num_leaving.load() / team;
  if (num_leaving.fetch_add(1) + 1 == (round + 1) * team) {
    const std::lock_guard lock(mutex);
    std::erase_if(live, [](const auto& entry) { return entry.second->finished; });
    num_leaving.store(0);
    return;
  }
  while (num_leaving.load() / team == round && num_leaving.load() != 0) sched_yield();
}

}  // namespace

bool face::is_up() {
  const std::lock_guard lock(mutex);
  return context != nullptr;
}

int32_t chameleon_init(void) {
  const std::lock_guard lock(mutex);
  if (context) return CHAM_SUCCESS;
  const bool is_up = face::guarded(false, [] { return start(), true; });
  if (!is_up) face::end_tool();
  return is_up ? CHAM_SUCCESS : CHAM_FAILURE;
}

int32_t chameleon_thread_init(void) {
  const int32_t result = chameleon_init();
  if (result == CHAM_SUCCESS) face::tell_thread(cham_t_callback_thread_init);
  return result;
}

int32_t chameleon_post_init_serial(void) {
  face::tell_thread(cham_t_callback_post_init_serial);
  return CHAM_SUCCESS;
}

int32_t chameleon_thread_finalize(void) {
  face::tell_thread(cham_t_callback_thread_finalize);
  return CHAM_SUCCESS;
}

int32_t chameleon_finalize(void) {
  std::unique_ptr<tasks::Context> ending;
  {
    const std::lock_guard lock(mutex);
    if (!context) return complain("chameleon_finalize was called before chameleon_init");
    ending = std::move(context);
  }
  ending.reset();
  face::end_tool();
  const std::lock_guard lock(mutex);
  live.clear();
  return CHAM_SUCCESS;
}

int32_t chameleon_distributed_taskwait(int) {
  const void* const code = __builtin_return_address(0);
  const int team = omp_get_num_threads ? omp_get_num_threads() : 1;
  face::tell_sync(cham_t_sync_region_start, code);
  bool has_waited = false;  // false if the wait is refused, for example in a callback
  const int32_t result = face::guarded<int32_t>(CHAM_FAILURE, [&] {
    try {
      started().wait(team);
    } catch (const tasks::TaskFailed&) {
      has_waited = true;
      throw;
    }
    has_waited = true;
    return CHAM_SUCCESS;
  });
  if (!context) return result;
  if (has_waited && !running_here.task) leave_together(team);
  face::tell_sync(cham_t_sync_region_end, code);
  return result;
}

int32_t chameleon_taskyield(void) {
  const bool ran = face::guarded(false, [] { return context && context->yield(); });
  if (ran) return last_run_was_local ? CHAM_LOCAL_TASK_SUCCESS : CHAM_REMOTE_TASK_SUCCESS;
  if (GOMP_taskyield) GOMP_taskyield();  // the function behind #pragma omp taskyield
  return CHAM_FAILURE;
}

int32_t chameleon_wake_up_comm_threads(void) { return CHAM_SUCCESS; }
int32_t chameleon_determine_base_addresses(void*) { return CHAM_SUCCESS; }
int32_t chameleon_set_image_base_address(int, intptr_t) { return CHAM_SUCCESS; }
void chameleon_set_proc_cpuset(cpu_set_t) {}
void chameleon_set_tracing_enabled(int) {}

void chameleon_print(int print_prefix, const char* prefix, int rank, ...) {
  va_list arguments;
  va_start(arguments, rank);
  const char* format = va_arg(arguments, const char*);
  if (print_prefix) std::fprintf(stderr, "%s R#%d: ", prefix, rank);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
}

cham_migratable_task_t* chameleon_create_task(void* entry_point, int num_args,
                                              chameleon_map_data_entry_t* args) {
  return face::guarded<cham_migratable_task_t*>(
      nullptr, [&] { return create(entry_point, num_args, args); });
}

int32_t chameleon_add_task(cham_migratable_task_t* task) {
  return add_once(task, __builtin_return_address(0));
}

void chameleon_set_callback_task_finish(cham_migratable_task_t* task,
                                        chameleon_external_callback_t func_ptr, void* func_param) {
  if (task && func_ptr)
    face::guarded(0, [&] { return task->on_finish.push_back({func_ptr, func_param}), 0; });
}

TYPE_TASK_ID chameleon_get_task_id(cham_migratable_task_t* task) { return task ? task->id : -1; }
TYPE_TASK_ID chameleon_get_last_local_task_id_added(void) { return last_added; }

int32_t chameleon_local_task_has_finished(TYPE_TASK_ID task_id) {
  const std::lock_guard lock(mutex);
  const auto found = live.find(task_id);
  if (found == live.end()) return ids && ids->was_given(task_id);  // dropped since
  return found->second->finished;
}

void chameleon_set_task_replication_info(cham_migratable_task_t* task, int num_ranks, int* ranks) {
  if (!task || !ranks || num_ranks < 0) return;
  face::guarded(0, [&] { return task->replication_ranks.assign(ranks, ranks + num_ranks), 0; });
}

// Functions for CHAMELEON's compiler plug-in. The plug-in first submits the address and the size of
// data. Tasks that use the data later give only the address.

int32_t chameleon_submit_data(void* tgt_ptr, void*, int64_t size) {
  return face::guarded<int32_t>(CHAM_FAILURE, [&] {
    const std::lock_guard lock(mutex);
    submitted[tgt_ptr] = size > 0 ? size : 0;
    return CHAM_SUCCESS;
  });
}

void chameleon_free_data(void* tgt_ptr) {
  {
    const std::lock_guard lock(mutex);
    submitted.erase(tgt_ptr);
  }
  std::free(tgt_ptr);
}

void chameleon_incr_mem_alloc(int64_t) {}

cham_migratable_task_t* create_migratable_task(void* entry, void** args, ptrdiff_t* offsets,
                                               int64_t* arg_types, int32_t num_args) {
  return face::guarded<cham_migratable_task_t*>(nullptr, [&] {
    if (num_args > 0 && (!args || !offsets || !arg_types))
      poise::fail(
          "create_migratable_task: the arguments, their offsets and their types must not be null");
    std::vector<chameleon_map_data_entry_t> entries;
    for (int32_t i = 0; i < num_args; ++i) {
      const std::lock_guard lock(mutex);
      const auto found = submitted.find(args[i]);
      const std::size_t bytes = found == submitted.end() ? 0 : found->second;
      entries.push_back({args[i], bytes, static_cast<int>(arg_types[i])});
    }
    cham_migratable_task_t* task = create(entry, num_args, entries.data());
    task->offsets.assign(offsets, offsets + num_args);
    return task;
  });
}

// Stores two values that are only reported to tools. Poise does not need them, because it finds the
// code of a task by the code's address.
void chameleon_set_img_idx_offset(cham_migratable_task_t* task, int32_t img_idx,
                                  ptrdiff_t entry_image_offset) {
  if (!task) return;
  task->image = img_idx;
  task->image_offset = entry_image_offset;
}

void* chameleon_create_task_fortran(void* entry_point, int num_args, void* args) {
  return chameleon_create_task(entry_point, num_args,
                               static_cast<chameleon_map_data_entry_t*>(args));
}
int32_t chameleon_add_task_fortran(void* task) {
  return add_once(static_cast<cham_migratable_task_t*>(task), __builtin_return_address(0));
}

chameleon_annotations_t* chameleon_get_task_annotations(TYPE_TASK_ID task_id) {
  return chameleon_get_task_annotations_opaque(find_task(task_id));
}
chameleon_annotations_t* chameleon_get_task_annotations_opaque(cham_migratable_task_t* task) {
  return task ? task->annotations.get() : nullptr;
}
void chameleon_set_task_annotations(cham_migratable_task_t* task, chameleon_annotations_t* ann) {
  if (task && task->annotations.get() != ann) task->annotations.reset(ann);
}
