// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/arcs.h"

#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "poise/base/check.h"

namespace poise {

namespace {

/// Calls visit(message, index) for each message between two tasks.
template <typename Visit>
void for_each_message(const Workload& workload, const Visit& visit) {
  for (std::size_t m = 0; m < workload.messages.size(); ++m)
    if (workload.messages[m].from != workload.messages[m].to) visit(workload.messages[m], m);
}

/// Adds `more` to a sum of an arc. Returns false if the sum is too large for its type.
bool add(std::uint32_t& sum, std::uint64_t more) {
  return !__builtin_add_overflow(sum, more, &sum);
}
bool add(double& sum, std::uint64_t more) {
  sum += more;
  return true;
}

}  // namespace

/// The indices of each task's messages: for task t, indices[first[t], first[t + 1]). A message is
/// in two rows: the row of its sender and the row of its receiver.
struct MessagesOfTasks {
  // The index of each task's first entry; the last element is the number of all entries.
  LargeArray<std::size_t> first;
  LargeArray<std::uint32_t> indices;

  explicit MessagesOfTasks(const Workload& workload) : first(workload.tasks.size() + 2, 0) {
    POISE_CHECK(workload.messages.size() <= std::numeric_limits<std::uint32_t>::max());
    for_each_message(workload, [&](const Message& message, std::size_t) {
      ++first[message.from + 2];
      ++first[message.to + 2];
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    indices.resize(first.back());
    // Now first[t + 1] is the start of row t. The loop advances it to the end of the row.
    for_each_message(workload, [&](const Message& message, std::size_t m) {
      indices[first[message.from + 1]++] = m;
      indices[first[message.to + 1]++] = m;
    });
    first.pop_back();
  }

  /// For every message between two different tasks, calls visit(t, partner, message) twice, once
  /// with each of the two tasks as t. The calls are sorted by partner.
  template <typename Visit>
  void for_each_end(const Workload& workload, const Visit& visit) const {
    for (TaskId partner = 0; partner < workload.num_tasks(); ++partner)
      for (std::size_t i = first[partner]; i < first[partner + 1]; ++i) {
        const Message& message = workload.messages[indices[i]];
        visit(message.from == partner ? message.to : message.from, partner, message);
      }
  }
};

/// The first pass over the messages counts the partners of each task, so that exactly as much
/// memory as needed is reserved. The second pass adds up the messages of each pair. Both passes
/// visit the messages of a task in the order of its partners, so rows come out sorted.
Arcs::Arcs(const Workload& workload) : first_(workload.tasks.size() + 2, 0) {
  const MessagesOfTasks messages(workload);
  {
    LargeArray<TaskId> last_partner(workload.num_tasks(), workload.num_tasks());
    messages.for_each_end(workload, [&](TaskId t, TaskId partner, const Message&) {
      if (std::exchange(last_partner[t], partner) != partner) ++first_[t + 2];
    });
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  if (fill(messages, workload, small_)) return;
  small_ = LargeArray<SmallArc>();   // "= {}" would not free the memory
  first_.insert(first_.begin(), 0);  // first_[t + 1] is the start of row t again
  fill(messages, workload, large_);
}

/// Adds up the messages of each arc. Needs the start of row t in first_[t + 1], and leaves it in
/// first_[t]. Returns false if a sum is too large for the type.
template <typename Stored>
bool Arcs::fill(const MessagesOfTasks& messages, const Workload& workload,
                LargeArray<Stored>& arcs) {
  arcs.resize(first_.back());
  LargeArray<TaskId> last_partner(workload.num_tasks(), workload.num_tasks());
  bool fits = true;
  messages.for_each_end(workload, [&](TaskId t, TaskId partner, const Message& message) {
    // This pass advances first_[t + 1] to the end of row t.
    if (std::exchange(last_partner[t], partner) != partner) arcs[first_[t + 1]++].task = partner;
    Stored& arc = arcs[first_[t + 1] - 1];
    const bool is_in = message.from == partner;  // seen from t
    fits = add(is_in ? arc.in : arc.out, message.count) && fits;
    fits = add(is_in ? arc.in_bytes : arc.out_bytes, message.bytes) && fits;
  });
  first_.pop_back();
  return fits;
}

}  // namespace poise
