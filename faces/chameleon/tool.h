// SPDX-License-Identifier: BSD-3-Clause
// Finds, starts, informs and ends a tool that observes CHAMELEON's tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "faces/chameleon/task.h"
#include "runtimes/tasks/context.h"

namespace poise::chameleon {

/// Looks for cham_t_start_tool in the program and its loaded libraries, then in the libraries that
/// the environment variable CHAMELEON_TOOL_LIBRARIES lists. Calls the function if it is found.
void start_tool(int rank, int num_ranks);
void end_tool();

/// Finds a task by its id for the tool. Returns null if the task no longer exists.
using FindTask = cham_migratable_task_t* (*)(int id);
void tool_finds_tasks_by(FindTask find);

void tell_thread(cham_t_callback_types_t which);
/// Tells the tool about a new task. `code` is the address of the call that created the task.
void tell_created(cham_migratable_task_t* task, const void* code);
void tell_sync(cham_t_sync_region_status_t status, const void* code);
/// A task that a thread of this rank runs, with the flags that tools see: local or remote, and
/// whether the task is replicated.
struct Met {
  cham_migratable_task_t* task = nullptr;
  cham_t_task_flag_t flag = cham_t_task_local;
};
cham_t_task_flag_t flag_of(bool local, bool replicated);
void tell_scheduled(const Met& now, cham_t_task_schedule_type_t what, const Met& before);
/// Returns the policy that calls the tool's callbacks. These callbacks decide how many and which
/// tasks go to each rank, and what the load of a rank is.
tasks::Policy policy_of_tool();
/// True if the tool attaches data to tasks, and has functions to encode and decode these data. Then
/// the data travel with the tasks.
bool tool_data_travels();
std::vector<char> encode_tool_data(cham_migratable_task_t* task);
void decode_tool_data(cham_migratable_task_t* task, void* data, std::int32_t bytes);
/// Returns the microseconds by which the tool wants to delay a task that is about to start.
std::int32_t ask_delay_us(cham_migratable_task_t* task, std::int32_t tasks_created);

}  // namespace poise::chameleon
