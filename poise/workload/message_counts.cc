// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/message_counts.h"

#include <numeric>

#include "poise/base/check.h"

namespace poise {

/// Makes first_[t + 1] the start of row t. add() stores an entry at this index and increments it,
/// so finally first_[t + 1] is the start of row t + 1.
void MessageCounts::make_room(const Workload& workload, bool for_senders) {
  first_.assign(workload.tasks.size() + 2, 0);
  for (const Message& message : workload.messages) {
    if (message.from == message.to) continue;
    ++first_[message.to + 2];
    if (for_senders) ++first_[message.from + 2];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  entries_.resize(first_.back());
  first_.pop_back();
}

void MessageCounts::add(TaskId t, TaskId partner, std::uint64_t count) {
  std::uint32_t packed = count;
  if (count >= kWide) {
    POISE_CHECK(wide_.size() < kWide);
    packed = kWide + static_cast<std::uint32_t>(wide_.size());
    wide_.push_back(count);
  }
  entries_[first_[t + 1]++] = {partner, packed};
}

MessageCounts counts_received(const Workload& workload) {
  MessageCounts counts;
  counts.make_room(workload, false);
  for (const Message& message : workload.messages)
    if (message.from != message.to) counts.add(message.to, message.from, message.count);
  return counts;
}

MessageCounts counts_exchanged(const Workload& workload) {
  MessageCounts counts;
  counts.make_room(workload, true);
  for (const Message& message : workload.messages) {
    if (message.from == message.to) continue;
    counts.add(message.to, message.from, message.count);
    counts.add(message.from, message.to, message.count);
  }
  return counts;
}

}  // namespace poise
