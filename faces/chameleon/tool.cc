// SPDX-License-Identifier: BSD-3-Clause

#include "faces/chameleon/tool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <string>

#include "faces/chameleon/guard.h"
#include "faces/chameleon/image.h"

#include "poise/base/text.h"

namespace poise::chameleon {

namespace {

constexpr std::size_t kNumEvents = 14;

// Frees memory that tools allocated with malloc and returned.
struct Free {
  void operator()(void* data) const { std::free(data); }
};
using Tuples = std::unique_ptr<cham_t_migration_tupel_t[], Free>;
using Replications = std::unique_ptr<cham_t_replication_info_t[], Free>;

struct Tool {
  cham_t_start_tool_result_t* started = nullptr;
  std::array<cham_t_callback_t, kNumEvents> callbacks{};
  cham_t_data_t rank_data{};
  cham_t_rank_info_t rank_info{};
  FindTask find = nullptr;
} tool;

thread_local cham_t_data_t thread_data{};

// The number of queued tasks of this rank at its last poll, plus the tasks created and minus the
// tasks started since that poll.
std::atomic<std::int32_t> num_queued{0};

template <typename Callback>
Callback callback(cham_t_callback_types_t which) {
  return reinterpret_cast<Callback>(tool.callbacks[which]);
}

/// Calls the tool's callback for this kind of event, if it has one.
template <typename Callback, typename... Arguments>
void tell(cham_t_callback_types_t which, Arguments... arguments) {
  const auto function = callback<Callback>(which);
  if (function) guarded(0, [&] { return function(arguments...), 0; });
}

cham_t_set_result_t set_callback(cham_t_callback_types_t which, cham_t_callback_t function) {
  const std::size_t index = which;
  if (index < 1 || index >= kNumEvents) return cham_t_set_error;
  tool.callbacks[index] = function;
  return cham_t_set_always;
}

int get_callback(cham_t_callback_types_t, cham_t_callback_t*) { return 0; }
cham_t_data_t* get_thread_data() { return &thread_data; }
cham_t_data_t* get_rank_data() { return &tool.rank_data; }
cham_t_rank_info_t* get_rank_info() { return &tool.rank_info; }

cham_migratable_task_t* task_of(int id) { return tool.find ? tool.find(id) : nullptr; }

cham_t_data_t* get_task_data(int id) {
  cham_migratable_task_t* task = task_of(id);
  return task ? &task->tool_data : nullptr;
}

cham_t_task_param_info_t param_info(cham_migratable_task_t* task) {
  if (!task) return {-1, nullptr, nullptr, nullptr};
  if (task->sizes.empty())
    for (const auto& argument : task->arguments) {
      task->sizes.push_back(argument.size);
      task->types.push_back(argument.type);
      task->pointers.push_back(argument.valptr);
    }
  return {static_cast<std::int32_t>(task->arguments.size()), task->sizes.data(), task->types.data(),
          task->pointers.data()};
}
cham_t_task_param_info_t param_info_by_id(int id) { return param_info(task_of(id)); }

cham_t_task_meta_info_t meta_info(cham_migratable_task_t* task) {
  if (!task) return {0, 0, 0};
  const auto offset = [&] { return address_of(task->entry).offset; };
  return {reinterpret_cast<intptr_t>(task->entry), task->image,
          task->image_offset ? *task->image_offset : guarded<std::ptrdiff_t>(0, offset)};
}
cham_t_task_meta_info_t meta_info_by_id(int id) { return meta_info(task_of(id)); }

template <typename Function>
cham_t_interface_fn_t any(Function function) {
  return reinterpret_cast<cham_t_interface_fn_t>(function);
}

cham_t_interface_fn_t look_up(const char* name) {
  const struct {
    const char* name;
    cham_t_interface_fn_t function;
  } known[] = {{"cham_t_set_callback", any(set_callback)},
               {"cham_t_get_callback", any(get_callback)},
               {"cham_t_get_thread_data", any(get_thread_data)},
               {"cham_t_get_rank_data", any(get_rank_data)},
               {"cham_t_get_rank_info", any(get_rank_info)},
               {"cham_t_get_task_data", any(get_task_data)},
               {"cham_t_get_task_param_info", any(param_info)},
               {"cham_t_get_task_param_info_by_id", any(param_info_by_id)},
               {"cham_t_get_task_meta_info", any(meta_info)},
               {"cham_t_get_task_meta_info_by_id", any(meta_info_by_id)}};
  for (const auto& entry : known)
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  return nullptr;
}

using Start = cham_t_start_tool_result_t* (*)(unsigned);

bool try_tool(void* symbol) {
  if (!symbol) return false;
  cham_t_start_tool_result_t* result = reinterpret_cast<Start>(symbol)(CHAMELEON_VERSION);
  if (!result) return false;
  if (result->initialize && result->initialize(look_up, &result->tool_data)) {
    tool.started = result;
    return true;
  }
  tool.callbacks = {};  // the tool declined to be started
  return false;
}

std::vector<std::int32_t> loads_of(const LendingView& view) {
  std::vector<std::int32_t> loads;
  for (const double load : view.load_of_rank) loads.push_back(static_cast<std::int32_t>(load));
  return loads;
}

struct Ids {
  std::vector<TYPE_TASK_ID> local, replicated, stolen;
};

Ids ids_of(const LendingView& view) {
  Ids ids;
  for (const QueuedTask& task : view.queue)
    (task.borrowed     ? ids.stolen
     : task.replicated ? ids.replicated
                       : ids.local)
        .push_back(task.name);
  return ids;
}

std::int32_t size_of(const std::vector<TYPE_TASK_ID>& ids) { return ids.size(); }

std::vector<Loan> loans_of_tasks(const LendingView& view) {
  const auto select = callback<cham_t_callback_select_tasks_for_migration_t>(
      cham_t_callback_select_tasks_for_migration);
  const auto loads = loads_of(view);
  Ids ids = ids_of(view);
  std::int32_t count = 0;
  Tuples chosen(
      select(loads.data(), ids.local.data(), size_of(ids.local), size_of(ids.stolen), &count));
  std::vector<Loan> loans;
  for (std::int32_t i = 0; chosen && i < count; ++i)
    loans.push_back({static_cast<std::uint32_t>(chosen.get()[i].rank_id),
                     1,
                     {static_cast<std::uint64_t>(chosen.get()[i].task_id)}});
  return loans;
}

std::vector<Loan> loans_of_numbers(const LendingView& view) {
  const auto select = callback<cham_t_callback_select_num_tasks_to_offload_t>(
      cham_t_callback_select_num_tasks_to_offload);
  const auto loads = loads_of(view);
  const Ids ids = ids_of(view);
  std::vector<std::int32_t> tasks(loads.size(), 0);
  select(tasks.data(), loads.data(), size_of(ids.local), size_of(ids.stolen));
  std::vector<Loan> loans;
  for (std::uint32_t rank = 0; rank < tasks.size(); ++rank)
    if (tasks[rank] > 0) loans.push_back({rank, static_cast<std::uint32_t>(tasks[rank]), {}});
  return loans;
}

std::vector<tasks::Replication> replications(const LendingView& view) {
  const auto select = callback<cham_t_callback_select_num_tasks_to_replicate_t>(
      cham_t_callback_select_num_tasks_to_replicate);
  const auto loads = loads_of(view);
  std::int32_t count = 0;
  const Replications chosen(select(loads.data(), size_of(ids_of(view).local), &count));
  std::vector<tasks::Replication> wanted;
  for (std::int32_t i = 0; chosen && i < count; ++i) {
    const cham_t_replication_info_t& info = chosen[i];
    if (info.num_tasks <= 0) continue;
    wanted.push_back(
        {static_cast<std::uint32_t>(info.num_tasks),
         {info.replication_ranks, info.replication_ranks + info.num_replication_ranks}});
  }
  return wanted;
}

double load_of(const LendingView& view) {
  num_queued = view.queued;
  const auto determine =
      callback<cham_t_callback_determine_local_load_t>(cham_t_callback_determine_local_load);
  if (!determine) return view.queued;
  Ids ids = ids_of(view);
  return determine(ids.local.data(), size_of(ids.local), ids.replicated.data(),
                   size_of(ids.replicated), ids.stolen.data(), size_of(ids.stolen), nullptr, 0);
}

}  // namespace

void start_tool(int rank, int num_ranks) {
  tool.rank_info = {rank, num_ranks};
  num_queued = 0;
  const char* wanted = std::getenv("CHAMELEON_TOOL");
  if (wanted && (std::strcmp(wanted, "0") == 0 || std::strcmp(wanted, "disabled") == 0)) return;
  if (try_tool(dlsym(RTLD_DEFAULT, "cham_t_start_tool"))) return;
  const char* libraries = std::getenv("CHAMELEON_TOOL_LIBRARIES");
  for (const auto& path : split(libraries ? libraries : "", ':')) {
    if (path.empty()) continue;
    void* library = dlopen(std::string(path).c_str(), RTLD_NOW);
    if (!library) std::fprintf(stderr, "chameleon: no tool: %s\n", dlerror());
    if (library && try_tool(dlsym(library, "cham_t_start_tool"))) return;
  }
}

void end_tool() {
  if (tool.started && tool.started->finalize)
    guarded(0, [] { return tool.started->finalize(&tool.started->tool_data), 0; });
  tool.started = nullptr;
  tool.callbacks = {};
}

void tool_finds_tasks_by(FindTask find) { tool.find = find; }

void tell_thread(cham_t_callback_types_t which) {
  tell<cham_t_callback_thread_init_t>(which, &thread_data);
}

void tell_created(cham_migratable_task_t* task, const void* code) {
  ++num_queued;
  tell<cham_t_callback_task_create_t>(cham_t_callback_task_create, task, &task->tool_data, code);
}

void tell_sync(cham_t_sync_region_status_t status, const void* code) {
  tell<cham_t_callback_sync_region_t>(cham_t_callback_sync_region, cham_t_sync_region_taskwait,
                                      status, &thread_data, code);
}

cham_t_task_flag_t flag_of(bool local, bool replicated) {
  return static_cast<cham_t_task_flag_t>((local ? cham_t_task_local : cham_t_task_remote) |
                                         (replicated ? cham_t_task_replicated : 0));
}

void tell_scheduled(const Met& now, cham_t_task_schedule_type_t what, const Met& before) {
  tell<cham_t_callback_task_schedule_t>(cham_t_callback_task_schedule, now.task, now.flag,
                                        &now.task->tool_data, what, before.task, before.flag,
                                        before.task ? &before.task->tool_data : nullptr);
}

tasks::Policy policy_of_tool() {
  tasks::Policy policy;
  policy.sees_queue = true;
  if (tool.callbacks[cham_t_callback_select_tasks_for_migration])
    policy.decide = loans_of_tasks;
  else if (tool.callbacks[cham_t_callback_select_num_tasks_to_offload])
    policy.decide = loans_of_numbers;
  if (tool.callbacks[cham_t_callback_determine_local_load] ||
      tool.callbacks[cham_t_callback_change_freq_for_execution])
    policy.load = load_of;
  if (tool.callbacks[cham_t_callback_select_num_tasks_to_replicate])
    policy.replicate = replications;
  return policy;
}

bool tool_data_travels() {
  return tool.callbacks[cham_t_callback_encode_task_tool_data] &&
         tool.callbacks[cham_t_callback_decode_task_tool_data];
}

std::vector<char> encode_tool_data(cham_migratable_task_t* task) {
  const auto encode =
      callback<cham_t_callback_encode_task_tool_data_t>(cham_t_callback_encode_task_tool_data);
  std::int32_t bytes = 0;
  const std::unique_ptr<char[], Free> data(static_cast<char*>(
      guarded<void*>(nullptr, [&] { return encode(task, &task->tool_data, &bytes); })));
  if (!data || bytes < 0) bytes = 0;
  return {data.get(), data.get() + bytes};
}

void decode_tool_data(cham_migratable_task_t* task, void* data, std::int32_t bytes) {
  tell<cham_t_callback_decode_task_tool_data_t>(cham_t_callback_decode_task_tool_data, task,
                                                &task->tool_data, data, bytes);
}

std::int32_t ask_delay_us(cham_migratable_task_t* task, std::int32_t tasks_created) {
  const auto ask = callback<cham_t_callback_change_freq_for_execution_t>(
      cham_t_callback_change_freq_for_execution);
  if (!ask) return 0;
  const std::int32_t load = std::max(num_queued.fetch_sub(1) - 1, 0);
  return guarded(0, [&] { return ask(task, load, tasks_created); });
}

}  // namespace poise::chameleon
