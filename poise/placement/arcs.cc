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

/// The indices of each task's messages: for task t, indices[first[t], first[t + 1]). A message is
/// in the rows of both its ends.
struct MessagesOfTasks {
  std::vector<std::size_t> first;  // per task, and one more
  std::vector<std::uint32_t> indices;

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

  /// Calls visit(t, partner, message) for both ends t of every message between t and another task,
  /// in the order of partners.
  template <typename Visit>
  void for_each_end(const Workload& workload, const Visit& visit) const {
    for (TaskId partner = 0; partner < workload.num_tasks(); ++partner)
      for (std::size_t i = first[partner]; i < first[partner + 1]; ++i) {
        const Message& message = workload.messages[indices[i]];
        visit(message.from == partner ? message.to : message.from, partner, message);
      }
  }
};

}  // namespace

/// The first pass over the messages counts the arcs of each task, so that no memory is reserved for
/// the further messages of a pair. The second pass adds up the messages. Both go through the
/// messages in the order of partners, so rows come out sorted.
Arcs::Arcs(const Workload& workload) : first_(workload.tasks.size() + 2, 0) {
  const MessagesOfTasks messages(workload);
  const TaskId none = workload.num_tasks();
  std::vector<TaskId> last_partner(none, none);  // of each task
  const auto begins_arc = [&](TaskId t, TaskId partner) {
    return std::exchange(last_partner[t], partner) != partner;
  };
  messages.for_each_end(workload, [&](TaskId t, TaskId partner, const Message&) {
    if (begins_arc(t, partner)) ++first_[t + 2];
  });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  arcs_.resize(first_.back());
  last_partner.assign(none, none);
  // Now first_[t + 1] is the start of row t. This pass advances it to the end of the row.
  messages.for_each_end(workload, [&](TaskId t, TaskId partner, const Message& message) {
    if (begins_arc(t, partner)) arcs_[first_[t + 1]++] = {partner, 0, 0, 0, 0};
    Arc& arc = arcs_[first_[t + 1] - 1];
    const bool is_in = message.from == partner;  // seen from t
    (is_in ? arc.in : arc.out) += message.count;
    (is_in ? arc.in_bytes : arc.out_bytes) += message.bytes;
  });
  first_.pop_back();
}

}  // namespace poise
