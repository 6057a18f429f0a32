#include "poise/workload/edges.h"

#include <algorithm>
#include <numeric>

namespace poise {

Traffic::Traffic(const Knobs& knobs)
    : count(static_cast<std::uint64_t>(knobs["messages"])),
      bytes(count * static_cast<std::uint64_t>(knobs["message_bytes"])) {}

std::uint64_t scaled(std::uint64_t bytes, double factor) {
  return static_cast<std::uint64_t>(std::min(static_cast<double>(bytes) * factor, 1e18));
}

std::vector<Message> messages_of(TaskId num_tasks, const std::vector<Edge>& edges) {
  // Counting sort by sender: row t starts at next[t], which then moves to its end.
  std::vector<std::size_t> next(std::size_t{num_tasks} + 1, 0);
  for (const Edge& edge : edges) {
    ++next[edge.a + 1];
    ++next[edge.b + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Message> messages(edges.size() * 2);
  for (const Edge& edge : edges) {
    messages[next[edge.a]++] = {edge.a, edge.b, edge.count, edge.bytes};
    messages[next[edge.b]++] = {edge.b, edge.a, edge.count, edge.bytes};
  }

  std::size_t begin = 0, kept = 0;
  for (TaskId t = 0; t < num_tasks; ++t) {
    const std::size_t end = next[t], row = kept;
    std::sort(messages.begin() + static_cast<std::ptrdiff_t>(begin),
              messages.begin() + static_cast<std::ptrdiff_t>(end),
              [](const Message& x, const Message& y) { return x.to < y.to; });
    for (std::size_t m = begin; m < end; ++m) {
      if (kept > row && messages[kept - 1].to == messages[m].to) {
        messages[kept - 1].count += messages[m].count;
        messages[kept - 1].bytes += messages[m].bytes;
      } else {
        messages[kept++] = messages[m];
      }
    }
    begin = end;
  }
  messages.resize(kept);
  return messages;
}

}  // namespace poise
