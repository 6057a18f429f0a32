// The messages of a workload arranged by task: who talks to whom, in compressed rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// The other end of some messages, seen from one task.
struct Link {
  TaskId task = 0;
  std::uint64_t count = 0, bytes = 0;
};

/// Rows of links, one per task. O(tasks + messages) to build and to hold.
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

/// Per task, the senders of what it receives, in the order of the messages. A task's messages to
/// itself are left out: they cost nothing anywhere.
Links received(const Workload& workload);

/// Per task, the receivers of what it sends, in the order of the messages; none to itself.
Links sent(const Workload& workload);

/// Per task, everyone it sends to or receives from, once each, sorted by task, both directions
/// added up. Messages to itself are left out.
Links neighbours(const Workload& workload);

}  // namespace poise
