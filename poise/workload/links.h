// SPDX-License-Identifier: BSD-3-Clause
// The messages of a workload, grouped by task and stored like the rows of a sparse matrix in CSR
// format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// All messages that a task exchanges with one other task.
struct Link {
  TaskId task = 0;
  std::uint64_t count = 0, bytes = 0;
};

/// One row of links per task. O(tasks + messages) time and memory.
class Links {
 public:
  std::span<const Link> of(TaskId t) const {
    return {links_.data() + first_[t], first_[t + 1] - first_[t]};
  }
  std::size_t size() const { return links_.size(); }

 private:
  static Links by(TaskId Message::*row_end, TaskId Message::*link_end, const Workload& workload);
  friend Links received(const Workload&);
  friend Links sent(const Workload&);
  friend Links neighbours(const Workload&);
  std::vector<std::size_t> first_;
  std::vector<Link> links_;
};

/// Lists per task the senders of the messages that it receives, in the order of the messages.
/// Messages of a task to itself are omitted because they cost nothing.
Links received(const Workload& workload);

/// Lists per task the receivers of the messages that it sends, in the order of the messages.
/// Messages of a task to itself are omitted.
Links sent(const Workload& workload);

/// Lists per task all tasks with which it exchanges messages, once each and sorted by task. The
/// messages of both directions are added up; messages of a task to itself are omitted.
Links neighbours(const Workload& workload);

}  // namespace poise
