// CHAMELEON's functions in terms of Poise's tasks.
#include <array>
#include <atomic>
#include <chameleon.h>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <sched.h>
#include <thread>
#include <unordered_map>

#include "faces/chameleon/image.h"
#include "faces/chameleon/task.h"
#include "faces/chameleon/tool.h"
#include "runtimes/tasks/context.h"

#include "poise/base/error.h"

// Of whichever OpenMP the program uses; none: one thread.
extern "C" int omp_get_num_threads(void) __attribute__((weak));

namespace {

namespace tasks = poise::tasks;
namespace face = poise::chameleon;

std::recursive_mutex mutex;  // of the following
std::unique_ptr<tasks::Context> context;
std::unordered_map<int, std::unique_ptr<cham_migratable_task_t>> live;  // until the wait's end
std::unordered_map<void*, std::size_t> submitted;  // bytes of data from a compiler's plug-in
int next_id = 0;
bool started_mpi = false;

std::atomic<int> num_leaving{0};
thread_local int last_added = -1;

// What travels with the arguments: where the code is, and the task as its own rank holds it.
struct Travelling {
  face::CodeAddress code;
  std::uint32_t num_offsets;  // which are the next item
  std::uint32_t tool_items;   // after the arguments: one, with a tool's data if the task was lent
  int id;
  cham_migratable_task_t* task;
};

thread_local face::Met running_here;

constexpr std::size_t kMostArguments = 128;

#ifdef __clang__
#define ANY_FUNCTION __attribute__((no_sanitize("function")))
#else
#define ANY_FUNCTION
#endif

// Superfluous arguments do no harm in the calling conventions of Linux: the caller removes them.
template <std::size_t... i>
ANY_FUNCTION void call_with(void* code, const std::array<void*, kMostArguments>& arguments,
                            std::index_sequence<i...>) {
  reinterpret_cast<void (*)(decltype((void)i, (void*)nullptr)...)>(code)(arguments[i]...);
}

void call(void* code, const std::array<void*, kMostArguments>& arguments, std::size_t count) {
  if (count <= 6) return call_with(code, arguments, std::make_index_sequence<6>());
  if (count <= 20) return call_with(code, arguments, std::make_index_sequence<20>());
  call_with(code, arguments, std::make_index_sequence<kMostArguments>());
}

struct Arguments {
  std::array<void*, kMostArguments> values{};
  std::size_t count = 0;
};

/// Of the items behind Travelling: literals stand for themselves, others for where they lie here.
Arguments arguments_of(const Travelling& travelling, std::span<const tasks::Item> items) {
  std::vector<std::ptrdiff_t> offsets(travelling.num_offsets);
  if (!offsets.empty()) {
    std::memcpy(offsets.data(), items[0].data, items[0].bytes);
    items = items.subspan(1);
  }
  Arguments arguments{.count = items.size() - travelling.tool_items};
  for (std::size_t i = 0; i < arguments.count; ++i) {
    void*& value = arguments.values[i] = items[i].data;
    if (items[i].mode == tasks::Mode::literal)
      std::memcpy(&value, items[i].data, sizeof value);
    else if (!offsets.empty() && value)
      value = static_cast<char*>(value) + offsets[i];
  }
  return arguments;
}

/// A task of another rank, as it and tools see it here.
void fill_visitor(cham_migratable_task_t& visitor, const Travelling& travelling,
                  const Arguments& arguments, std::span<const tasks::Item> items,
                  const poise::Annotations& annotations) {
  const std::size_t first = items.size() - travelling.tool_items - arguments.count;
  visitor.id = travelling.id;
  visitor.entry = face::code_at(travelling.code);
  if (!annotations.empty())
    visitor.annotations = std::make_unique<chameleon_annotations_t>(annotations);
  for (std::size_t i = 0; i < arguments.count; ++i)
    visitor.arguments.push_back({arguments.values[i], items[first + i].bytes, 0});
  if (travelling.tool_items > 0 && face::tool_data_travels())
    face::decode_tool_data(&visitor, items.back().data,
                           static_cast<std::int32_t>(items.back().bytes));
}

void run(std::span<const tasks::Item> items) {
  Travelling travelling;
  std::memcpy(&travelling, items[0].data, sizeof travelling);
  const Arguments arguments = arguments_of(travelling, items.subspan(1));
  const tasks::Context& here = tasks::Context::current();
  const tasks::Self self = here.self();
  const bool local = self.home == here.rank();
  cham_migratable_task_t visitor;
  if (!local) fill_visitor(visitor, travelling, arguments, items, self.annotations);
  const face::Met now{local ? travelling.task : &visitor, face::flag_of(local, self.replicated)};
  const face::Met before = std::exchange(running_here, now);
  if (const auto us = face::ask_delay_us(now.task, next_id); us > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(us));
  face::tell_scheduled(now, before.task ? cham_t_task_yield : cham_t_task_start, before);
  try {
    call(now.task->entry, arguments.values, arguments.count);
  } catch (...) {
    running_here = before;
    throw;
  }
  face::tell_scheduled(now, cham_t_task_end, before);
  running_here = before;
}

/// Another copy of this task was started instead.
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

const tasks::FunctionId kRun = tasks::register_function("chameleon", "any", run);

int32_t complain(const char* text) {
  std::fprintf(stderr, "chameleon: %s\n", text);
  return CHAM_FAILURE;
}

tasks::Context& started() {
  if (!context) poise::fail("the library is not initialised; call chameleon_init first");
  return *context;
}

tasks::Mode mode_of(int type) {
  if (type & CHAM_OMP_TGT_MAPTYPE_LITERAL) return tasks::Mode::literal;
  const bool to = type & CHAM_OMP_TGT_MAPTYPE_TO, from = type & CHAM_OMP_TGT_MAPTYPE_FROM;
  if (from) return to ? tasks::Mode::inout : tasks::Mode::out;
  return tasks::Mode::in;
}

/// A task of another rank is known while it runs here.
cham_migratable_task_t* find_task(int id) {
  if (running_here.task && running_here.task->id == id) return running_here.task;
  const std::lock_guard lock(mutex);
  const auto found = live.find(id);
  return found == live.end() ? nullptr : found->second.get();
}

void add(cham_migratable_task_t* task) {
  tasks::Context& here = started();
  const auto num_offsets = static_cast<std::uint32_t>(task->offsets.size());
  const std::uint32_t tool_items = face::tool_data_travels() ? 1 : 0;
  Travelling travelling{face::address_of(task->entry), num_offsets, tool_items, task->id, task};
  std::vector<tasks::Item> items = {{&travelling, sizeof travelling, tasks::Mode::literal}};
  if (num_offsets > 0)
    items.push_back(
        {task->offsets.data(), num_offsets * sizeof(std::ptrdiff_t), tasks::Mode::literal});
  for (auto& argument : task->arguments) {
    const tasks::Mode mode = mode_of(argument.type);
    if (mode == tasks::Mode::literal)
      items.push_back({&argument.valptr, sizeof(void*), mode});
    else
      items.push_back({argument.valptr, argument.size, mode});
  }
  last_added = task->id;
  face::tell_created(task);
  tasks::With with;
  if (tool_items > 0) {
    items.push_back({nullptr, 0, tasks::Mode::literal});
    with.on_lend = [task](std::span<tasks::Item> leaving) {
      auto& data = task->travelling_tool_data = face::encode_tool_data(task);
      leaving.back().data = data.data();
      leaving.back().bytes = data.size();
    };
  }
  with.name = static_cast<std::uint64_t>(task->id);
  for (const int rank : task->replication_ranks)
    with.replicas.push_back(static_cast<std::uint32_t>(rank));
  if (task->annotations) with.annotations = task->annotations->values;
  with.pinned = task->pinned;
  with.ordered = task->ordered;
  with.on_finish = [task] {
    for (const auto& done : task->on_finish) done.function(done.argument);
    const std::lock_guard lock(mutex);
    task->finished = true;
  };
  here.submit(std::move(with), kRun, items);
}

// All threads of the team leave together, as from OpenMP's barrier; the last one forgets the tasks.
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
  try {
    int up = 0, level = 0;
    MPI_Initialized(&up);
    if (!up) {
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
      started_mpi = true;
    }
    face::tool_finds_tasks_by(find_task);
    int rank = 0, num_ranks = 1, over = 0;
    MPI_Finalized(&over);
    if (over) poise::fail("MPI is finalized; chameleon_init comes before MPI_Finalize");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    face::start_tool(rank, num_ranks);
    tasks::Options options;
    options.policy = face::policy_of_tool();
    options.policy.cancelled = [rank](std::span<const tasks::Item> items, const tasks::Self& self) {
      cancelled(items, self, rank);
    };
    context = std::make_unique<tasks::Context>(MPI_COMM_WORLD, std::move(options));
    return CHAM_SUCCESS;
  } catch (const std::exception& exception) {
    face::end_tool();
    return complain(exception.what());
  }
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
    if (!context) return complain("chameleon_finalize without chameleon_init");
    ending = std::move(context);
  }
  ending.reset();
  face::end_tool();
  const std::lock_guard lock(mutex);
  live.clear();
  return CHAM_SUCCESS;
}

int32_t chameleon_distributed_taskwait(int) {
  const int team = omp_get_num_threads ? omp_get_num_threads() : 1;
  int32_t result = CHAM_SUCCESS;
  face::tell_sync(cham_t_sync_region_start);
  try {
    started().wait(static_cast<unsigned>(team));
  } catch (const std::exception& exception) {
    result = complain(exception.what());
    if (!context) return result;
  }
  if (!running_here.task) leave_together(team);
  face::tell_sync(cham_t_sync_region_end);
  return result;
}

int32_t chameleon_taskyield(void) {
  if (!context || !context->yield()) return CHAM_FAILURE;
  return CHAM_LOCAL_TASK_SUCCESS;
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
  if (num_args < 0 || static_cast<std::size_t>(num_args) > kMostArguments) {
    complain("a task takes 128 arguments at most");
    return nullptr;
  }
  if (!entry_point || (num_args > 0 && !args)) {
    complain("a task's function or arguments are null");
    return nullptr;
  }
  auto task = std::make_unique<cham_migratable_task_t>();
  task->entry = entry_point;
  task->arguments.assign(args, args + num_args);
  const std::lock_guard lock(mutex);
  task->id = next_id = next_id == INT32_MAX ? 1 : next_id + 1;
  return (live[task->id] = std::move(task)).get();
}

int32_t chameleon_add_task(cham_migratable_task_t* task) {
  if (!task) return complain("chameleon_add_task was given no task");
  if (std::exchange(task->added, true)) return complain("a task can be added only once");
  try {
    add(task);
    return CHAM_SUCCESS;
  } catch (const std::exception& exception) {
    return complain(exception.what());
  }
}

void chameleon_set_callback_task_finish(cham_migratable_task_t* task,
                                        chameleon_external_callback_t func_ptr, void* func_param) {
  if (func_ptr) task->on_finish.push_back({func_ptr, func_param});
}

TYPE_TASK_ID chameleon_get_task_id(cham_migratable_task_t* task) { return task->id; }
TYPE_TASK_ID chameleon_get_last_local_task_id_added(void) { return last_added; }

int32_t chameleon_local_task_has_finished(TYPE_TASK_ID task_id) {
  const std::lock_guard lock(mutex);
  const auto found = live.find(task_id);
  if (found == live.end()) return task_id > 0 && task_id <= next_id;  // forgotten since
  return found->second->finished;
}

void chameleon_set_task_replication_info(cham_migratable_task_t* task, int num_ranks, int* ranks) {
  task->replication_ranks.assign(ranks, ranks + num_ranks);
}

// What the authors' compiler plug-in calls: data it copied, of which it later tells the address
// only.

int32_t chameleon_submit_data(void* tgt_ptr, void*, int64_t size) {
  const std::lock_guard lock(mutex);
  submitted[tgt_ptr] = static_cast<std::size_t>(size);
  return CHAM_SUCCESS;
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
  std::vector<chameleon_map_data_entry_t> entries;
  for (int32_t i = 0; i < num_args; ++i) {
    const std::lock_guard lock(mutex);
    const auto found = submitted.find(args[i]);
    const std::size_t bytes = found == submitted.end() ? 0 : found->second;
    entries.push_back({args[i], bytes, static_cast<int>(arg_types[i])});
  }
  cham_migratable_task_t* task = chameleon_create_task(entry, num_args, entries.data());
  if (task) task->offsets.assign(offsets, offsets + num_args);
  return task;
}

// Code is found by its address.
void chameleon_set_img_idx_offset(cham_migratable_task_t*, int32_t, ptrdiff_t) {}

void* chameleon_create_task_fortran(void* entry_point, int num_args, void* args) {
  return chameleon_create_task(entry_point, num_args,
                               static_cast<chameleon_map_data_entry_t*>(args));
}
int32_t chameleon_add_task_fortran(void* task) {
  return chameleon_add_task(static_cast<cham_migratable_task_t*>(task));
}

chameleon_annotations_t* chameleon_get_task_annotations(TYPE_TASK_ID task_id) {
  cham_migratable_task_t* task = find_task(task_id);
  return task ? task->annotations.get() : nullptr;
}
chameleon_annotations_t* chameleon_get_task_annotations_opaque(cham_migratable_task_t* task) {
  return task->annotations.get();
}
void chameleon_set_task_annotations(cham_migratable_task_t* task, chameleon_annotations_t* ann) {
  task->annotations.reset(ann);
}
