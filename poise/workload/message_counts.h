// SPDX-License-Identifier: BSD-3-Clause
// The number of messages per task and communication partner. The lists in links.h also have the
// bytes of the messages and take three times as much memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// One row of partners per task, in the order of the messages; a partner may appear several times.
/// Messages of a task to itself are omitted.
class MessageCounts {
 public:
  struct Entry {
    TaskId task;
    std::uint32_t count;  // encoded; see count_of
  };

  std::span<const Entry> of(TaskId t) const {
    return {entries_.data() + first_[t], first_[t + 1] - first_[t]};
  }
  std::uint64_t count_of(const Entry& entry) const {
    return entry.count < kWide ? entry.count : wide_[entry.count - kWide];
  }

  /// Prefetches the pointer to the row of task t, which of(t) will read.
  void prefetch_row(TaskId t) const { __builtin_prefetch(&first_[t]); }
  void prefetch_entries(TaskId t) const {
    // The row may extend into a second cache line. That line may lie past the end of the array,
    // where pointer arithmetic would be undefined, so its address is computed as an integer.
    const auto row = reinterpret_cast<std::uintptr_t>(entries_.data() + first_[t]);
    __builtin_prefetch(reinterpret_cast<const void*>(row));
    __builtin_prefetch(reinterpret_cast<const void*>(row + 64));
  }

 private:
  friend MessageCounts counts_received(const Workload&);
  friend MessageCounts counts_exchanged(const Workload&);
  static constexpr std::uint32_t kWide = 1u << 31;

  void make_room(const Workload& workload, bool for_senders);
  void add(TaskId t, TaskId partner, std::uint64_t count);

  std::vector<std::size_t> first_;
  std::vector<Entry> entries_;
  /// Counts that do not fit into an entry. An entry with the value kWide + i represents the count
  /// wide_[i].
  std::vector<std::uint64_t> wide_;
};

/// Counts per task and sender the messages that the task receives. O(tasks + messages).
MessageCounts counts_received(const Workload& workload);

/// Counts per task and partner the messages in both directions. O(tasks + messages).
MessageCounts counts_exchanged(const Workload& workload);

}  // namespace poise
