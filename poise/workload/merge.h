// SPDX-License-Identifier: BSD-3-Clause
// Adds up messages with the same sender and receiver.
#pragma once

#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// The same traffic sorted by sender and receiver, one message per ordered pair. All tasks must be
/// below num_tasks. O(tasks + messages log degree).
std::vector<Message> merged(TaskId num_tasks, const std::vector<Message>& messages);

}  // namespace poise
