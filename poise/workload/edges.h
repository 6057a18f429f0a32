// SPDX-License-Identifier: BSD-3-Clause
// Turns undirected edges into messages in both directions. The messages are sorted, and all
// messages from one task to another are merged into one.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/base/knobs.h"
#include "poise/workload/workload.h"

namespace poise {

/// The messages that an edge sends in each direction: their number and their bytes in total. The
/// knobs `messages` and `message_bytes` give the number of messages and the bytes of one message.
struct EdgeTraffic {
  std::uint64_t count, bytes;
  explicit EdgeTraffic(const Knobs& knobs);
};

/// Multiplies bytes by a factor and limits the result to 10^18, so that an extreme random number
/// does not overflow.
std::uint64_t scaled(std::uint64_t bytes, double factor);

/// `count` messages with `bytes` in total between two tasks, in each direction.
struct Edge {
  TaskId a = 0, b = 0;
  std::uint64_t count = 1, bytes = 0;
};

/// The messages of the edges, sorted by sender and receiver, one per ordered pair. O(tasks + edges
/// log degree).
std::vector<Message> messages_of(TaskId num_tasks, const std::vector<Edge>& edges);

}  // namespace poise
