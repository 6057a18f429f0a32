// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/arcs.h"

#include <cstdint>
#include <numeric>

namespace poise {

namespace {

/// Calls visit(message, index) for each message between two tasks.
template <typename Visit>
void for_each_message(const Workload& workload, const Visit& visit) {
  for (std::size_t m = 0; m < workload.messages.size(); ++m)
    if (workload.messages[m].from != workload.messages[m].to) visit(workload.messages[m], m);
}

/// Returns the index at which the row of each task begins, followed by the end of the last row.
/// Every message has an entry in the rows of both its ends.
std::vector<std::size_t> row_starts(const Workload& workload) {
  std::vector<std::size_t> first(workload.tasks.size() + 1, 0);
  for_each_message(workload, [&](const Message& message, std::size_t) {
    ++first[message.from + 1];
    ++first[message.to + 1];
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  return first;
}

}  // namespace

/// Two passes: the first lists each task's messages. The second goes through these lists in the
/// order of tasks and adds each message to the row of the task at its other end, so that rows come
/// out sorted.
Arcs::Arcs(const Workload& workload) {
  const std::vector<std::size_t> first = row_starts(workload);
  std::vector<std::size_t> end(first.begin(), first.end() - 1);
  std::vector<std::size_t> messages(first.back());
  for_each_message(workload, [&](const Message& message, std::size_t m) {
    messages[end[message.from]++] = m;
    messages[end[message.to]++] = m;
  });

  arcs_.resize(first.back());
  end.assign(first.begin(), first.end() - 1);
  for (TaskId partner = 0; partner < workload.num_tasks(); ++partner)
    for (std::size_t i = first[partner]; i < first[partner + 1]; ++i) {
      const Message& message = workload.messages[messages[i]];
      const bool is_in = message.from == partner;  // seen from the other end
      const TaskId t = is_in ? message.to : message.from;
      if (end[t] == first[t] || arcs_[end[t] - 1].task != partner)
        arcs_[end[t]++] = {partner, 0, 0, 0, 0};
      Arc& arc = arcs_[end[t] - 1];
      (is_in ? arc.in : arc.out) += message.count;
      (is_in ? arc.in_bytes : arc.out_bytes) += message.bytes;
    }

  // A pair with several messages has one arc, so rows are shorter than reserved. This loop closes
  // the gaps between rows.
  first_.assign(1, 0);
  first_.reserve(first.size());
  std::size_t kept = 0;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    for (std::size_t i = first[t]; i < end[t]; ++i) arcs_[kept++] = arcs_[i];
    first_.push_back(kept);
  }
  arcs_.resize(kept);
}

}  // namespace poise
