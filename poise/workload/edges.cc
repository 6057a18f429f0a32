// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/edges.h"

#include <algorithm>

#include "poise/workload/merge.h"

namespace poise {

EdgeTraffic::EdgeTraffic(const Knobs& knobs)
    : count(static_cast<std::uint64_t>(knobs["messages"])),
      bytes(count * static_cast<std::uint64_t>(knobs["message_bytes"])) {}

std::uint64_t scaled(std::uint64_t bytes, double factor) {
  return static_cast<std::uint64_t>(std::min(bytes * factor, 1e18));
}

std::vector<Message> messages_of(TaskId num_tasks, const std::vector<Edge>& edges) {
  std::vector<Message> messages;
  messages.reserve(edges.size() * 2);
  for (const Edge& edge : edges) {
    messages.push_back({edge.a, edge.b, edge.count, edge.bytes});
    messages.push_back({edge.b, edge.a, edge.count, edge.bytes});
  }
  return merged(num_tasks, messages);
}

}  // namespace poise
