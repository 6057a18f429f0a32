// SPDX-License-Identifier: BSD-3-Clause
// A tool in its own library, written in C++11 as users would write it. It observes tasks and, when
// it ends, stores what it saw in an environment variable. If compiled with REFUSES, it refuses to
// be started.
#include <atomic>
#include <chameleon.h>
#include <chameleon_tools.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::atomic<int> wrong(0), created(0), started(0), yielded(0), ended(0);
cham_t_get_thread_data_t get_thread_data = nullptr;
cham_t_get_rank_data_t get_rank_data = nullptr;
cham_t_get_task_data_t get_task_data = nullptr;
cham_t_get_task_param_info_t param_info = nullptr;
cham_t_get_task_param_info_by_id_t param_info_by_id = nullptr;
cham_t_get_task_meta_info_t meta_info = nullptr;
cham_t_get_task_meta_info_by_id_t meta_info_by_id = nullptr;

void check(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "the tool: does not hold: %s\n", what);
}

bool is_in_the_library(const void* code) {
  Dl_info info;
  return dladdr(code, &info) && std::strstr(info.dli_fname, "libchameleon");
}

void thread_began(cham_t_data_t* data) {
  check(data == get_thread_data(), "a thread has its own data");
  data->value = 11;
}

void task_created(cham_migratable_task_t* task, cham_t_data_t* data, const void* code) {
#ifdef REFUSES
  setenv("TOOL_SAW", "a task, though the tool refused", 1);
#endif
  ++created;
  data->value = 17;
  check(code && !is_in_the_library(code), "the program creates tasks, not the library");
  check(get_task_data(chameleon_get_task_id(task)) == data, "an own task is found by its id");
  check(get_task_data(chameleon_get_task_id(task) + 1) == nullptr,
        "no data are returned for a task of another rank");
}

void check_what_is_known(cham_migratable_task_t* task) {
  const cham_t_task_param_info_t given = param_info(task);
  const int id = chameleon_get_task_id(task);
  check(given.num_args == param_info_by_id(id).num_args, "a task that runs is found by its id");
  for (int i = 0; i < given.num_args; ++i) {
    const int64_t type = given.arg_types[i];
    check(
        type & (CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_FROM | CHAM_OMP_TGT_MAPTYPE_LITERAL),
        "arguments go some way");
    check((type & CHAM_OMP_TGT_MAPTYPE_LITERAL) || given.arg_sizes[i] > 0, "arguments have sizes");
  }
  const cham_t_task_meta_info_t code = meta_info(task);
  if (code.idx_image == 99)
    check(code.entry_ptr != 0 && (code.entry_ptr - code.entry_image_offset) % 4096 == 0,
          "code is so far from the begin of its image");
  else
    check(code.idx_image == 3 && code.entry_image_offset == 48,
          "the image and the offset are those that the program has set");
  check(meta_info_by_id(id).entry_image_offset == code.entry_image_offset,
        "the position of the code is the same if it is asked for by the task's id");
}

void scheduled(cham_migratable_task_t* task, cham_t_task_flag_t flag, cham_t_data_t*,
               cham_t_task_schedule_type_t what, cham_migratable_task_t* prior, cham_t_task_flag_t,
               cham_t_data_t*) {
  char text[64];
  cham_t_task_flag_t_value(flag, text);
  check(std::strstr(text, flag & cham_t_task_local ? "cham_t_task_local" : "cham_t_task_remote"),
        "flags have names");
  check(what != cham_t_task_start || !prior, "a task that starts inside another one is a yield");
  check(what != cham_t_task_yield || prior,
        "only a task that starts inside another one is a yield");
  if (what == cham_t_task_end) {
    ++ended;
  } else {
    ++(what == cham_t_task_yield ? yielded : started);
    check_what_is_known(task);
  }
}

void synchronised(cham_t_sync_region_type_t, cham_t_sync_region_status_t, cham_t_data_t* data,
                  const void* code) {
  check(data->value == 11, "the data of a thread are kept");
  check(code && !is_in_the_library(code), "the program waits, not the library");
}

// Called before each task starts. Checks the number of queued tasks and the number of created
// tasks.
int32_t frequency(cham_migratable_task_t*, int32_t load, int32_t num_created) {
  check(load >= 0 && load < 1000, "the number of queued tasks is plausible");
  check(num_created >= created, "the number of created tasks does not decrease");
  return 0;
}

template <typename Function>
void find(cham_t_function_lookup_t look_up, const char* name, Function& function) {
  function = reinterpret_cast<Function>(look_up(name));
  check(function != nullptr, name);
}

int initialize(cham_t_function_lookup_t look_up, cham_t_data_t* tool_data) {
  cham_t_set_callback_t set = nullptr;
#define LOOK_UP(name, function) find(look_up, #name, function)
#define REGISTER(event, function)                                                           \
  do {                                                                                      \
    const event##_t f = function;                                                           \
    check(set(event, reinterpret_cast<cham_t_callback_t>(f)) == cham_t_set_always, #event); \
  } while (0)
  LOOK_UP(cham_t_set_callback, set);
  LOOK_UP(cham_t_get_thread_data, get_thread_data);
  LOOK_UP(cham_t_get_rank_data, get_rank_data);
  LOOK_UP(cham_t_get_task_data, get_task_data);
  LOOK_UP(cham_t_get_task_param_info, param_info);
  LOOK_UP(cham_t_get_task_param_info_by_id, param_info_by_id);
  LOOK_UP(cham_t_get_task_meta_info, meta_info);
  LOOK_UP(cham_t_get_task_meta_info_by_id, meta_info_by_id);
  REGISTER(cham_t_callback_thread_init, thread_began);
  REGISTER(cham_t_callback_task_create, task_created);
  REGISTER(cham_t_callback_task_schedule, scheduled);
  REGISTER(cham_t_callback_sync_region, synchronised);
  REGISTER(cham_t_callback_change_freq_for_execution, frequency);
  tool_data->value = 7;
  get_rank_data()->value = 42;
#ifdef REFUSES
  return 0;
#else
  return 1;
#endif
}

void finalize(cham_t_data_t* tool_data) {
  check(tool_data->value == 7 && get_rank_data()->value == 42,
        "the data of the tool and of the rank are kept");
  check(started + yielded == ended, "what starts ends");
  const std::string saw = std::to_string(created) + " created, " + std::to_string(yielded) +
                          " inside others, " + std::to_string(wrong) + " wrong";
  setenv("TOOL_SAW", saw.c_str(), 1);
}

}  // namespace

extern "C" cham_t_start_tool_result_t* cham_t_start_tool(unsigned version) {
  static cham_t_start_tool_result_t result = {initialize, finalize, {0}};
  return version == CHAMELEON_VERSION ? &result : nullptr;
}
