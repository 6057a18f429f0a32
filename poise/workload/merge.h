// SPDX-License-Identifier: BSD-3-Clause
// Adds up messages with the same sender and receiver.
#pragma once

#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// Returns the given messages, merged to one message per ordered pair of tasks and sorted by sender
/// and receiver. All task ids must be below num_tasks. O(tasks + messages log d) if a task sends at
/// most d messages.
std::vector<Message> merged(TaskId num_tasks, const std::vector<Message>& messages);

/// Does what merged() does, but in place and without memory per task. O(messages log messages).
void merge_in_place(std::vector<Message>& messages);

}  // namespace poise
