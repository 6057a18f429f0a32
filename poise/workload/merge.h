// Messages of the same pair of tasks added up.
#pragma once

#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// The same traffic, sorted by sender and receiver, one message per ordered pair. Every task named
/// is below num_tasks. O(tasks + messages log degree).
std::vector<Message> merged(TaskId num_tasks, const std::vector<Message>& messages);

}  // namespace poise
