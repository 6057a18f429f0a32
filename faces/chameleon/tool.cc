#include "faces/chameleon/tool.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

#include "poise/base/text.h"

namespace poise::chameleon {

namespace {

constexpr std::size_t kNumEvents = 14;

struct Tool {
  cham_t_start_tool_result_t* started = nullptr;
  std::array<cham_t_callback_t, kNumEvents> callbacks{};
  cham_t_data_t rank_data{};
  cham_t_rank_info_t rank_info{};
  FindTask find = nullptr;
} tool;

thread_local cham_t_data_t thread_data{};

template <typename Callback>
Callback callback(cham_t_callback_types_t which) {
  return reinterpret_cast<Callback>(tool.callbacks[which]);
}

cham_t_set_result_t set_callback(cham_t_callback_types_t which, cham_t_callback_t function) {
  const auto index = static_cast<std::size_t>(which);
  if (index < 1 || index >= kNumEvents) return cham_t_set_error;
  switch (which) {
    case cham_t_callback_encode_task_tool_data:
    case cham_t_callback_decode_task_tool_data:
    case cham_t_callback_determine_local_load:
    case cham_t_callback_select_num_tasks_to_offload:
    case cham_t_callback_select_tasks_for_migration:
    case cham_t_callback_select_num_tasks_to_replicate:
      std::fprintf(stderr, "chameleon: a tool set callback %zu, which Poise never calls\n", index);
      return cham_t_set_impossible;
    default: tool.callbacks[index] = function; return cham_t_set_always;
  }
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
      task->sizes.push_back(static_cast<std::int64_t>(argument.size));
      task->types.push_back(argument.type);
      task->pointers.push_back(argument.valptr);
    }
  return {static_cast<std::int32_t>(task->arguments.size()), task->sizes.data(), task->types.data(),
          task->pointers.data()};
}
cham_t_task_param_info_t param_info_by_id(int id) { return param_info(task_of(id)); }

cham_t_task_meta_info_t meta_info(cham_migratable_task_t* task) {
  return {reinterpret_cast<intptr_t>(task ? task->entry : nullptr), 0, 0};
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
  if (!result || !result->initialize(look_up, &result->tool_data)) return false;
  tool.started = result;
  return true;
}

cham_t_task_flag_t flag_of(bool local) { return local ? cham_t_task_local : cham_t_task_remote; }

}  // namespace

void start_tool(int rank, int num_ranks) {
  tool.rank_info = {rank, num_ranks};
  const char* wanted = std::getenv("CHAMELEON_TOOL");
  if (wanted && (std::strcmp(wanted, "0") == 0 || std::strcmp(wanted, "disabled") == 0)) return;
  if (try_tool(dlsym(RTLD_DEFAULT, "cham_t_start_tool"))) return;
  const char* libraries = std::getenv("CHAMELEON_TOOL_LIBRARIES");
  for (const auto& path : split(libraries ? libraries : "", ':')) {
    void* library = dlopen(std::string(path).c_str(), RTLD_NOW);
    if (library && try_tool(dlsym(library, "cham_t_start_tool"))) return;
  }
}

void end_tool() {
  if (tool.started && tool.started->finalize) tool.started->finalize(&tool.started->tool_data);
  tool.started = nullptr;
  tool.callbacks = {};
}

void tool_finds_tasks_by(FindTask find) { tool.find = find; }

void tell_thread(cham_t_callback_types_t which) {
  if (const auto tell = callback<cham_t_callback_thread_init_t>(which)) tell(&thread_data);
}

void tell_created(cham_migratable_task_t* task) {
  if (const auto tell = callback<cham_t_callback_task_create_t>(cham_t_callback_task_create))
    tell(task, &task->tool_data, __builtin_return_address(0));
}

void tell_scheduled(cham_migratable_task_t* task, bool local, cham_t_task_schedule_type_t what,
                    cham_migratable_task_t* prior, bool prior_local) {
  if (const auto tell = callback<cham_t_callback_task_schedule_t>(cham_t_callback_task_schedule))
    tell(task, flag_of(local), &task->tool_data, what, prior, flag_of(prior_local),
         prior ? &prior->tool_data : nullptr);
}

void tell_sync(cham_t_sync_region_status_t status) {
  if (const auto tell = callback<cham_t_callback_sync_region_t>(cham_t_callback_sync_region))
    tell(cham_t_sync_region_taskwait, status, &thread_data, __builtin_return_address(0));
}

std::int32_t ask_delay_us(cham_migratable_task_t* task, std::int32_t tasks_created) {
  const auto ask = callback<cham_t_callback_change_freq_for_execution_t>(
      cham_t_callback_change_freq_for_execution);
  return ask ? ask(task, 0, tasks_created) : 0;
}

}  // namespace poise::chameleon
