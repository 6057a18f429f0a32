// Undirected edges turned into messages: both directions, sorted, doubles added up.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/base/knobs.h"
#include "poise/workload/workload.h"

namespace poise {

/// What the knobs `messages` and `message_bytes` say of an edge, in each direction.
struct Traffic {
  std::uint64_t count, bytes;
  explicit Traffic(const Knobs& knobs);
};

/// bytes times a factor, at most 10^18: a wild draw must not overflow.
std::uint64_t scaled(std::uint64_t bytes, double factor);

/// count messages of bytes in all between two tasks, in each direction.
struct Edge {
  TaskId a = 0, b = 0;
  std::uint64_t count = 1, bytes = 0;
};

/// The messages of the edges, sorted by sender and receiver, one per ordered pair.
/// O(tasks + edges log degree).
std::vector<Message> messages_of(TaskId num_tasks, const std::vector<Edge>& edges);

}  // namespace poise
