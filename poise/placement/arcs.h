// SPDX-License-Identifier: BSD-3-Clause
// The messages of a phase as a graph. For each task it lists what the task exchanges with each
// other task.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// The messages between a task and another one, in both directions.
struct Arc {
  TaskId task;                 // the other one
  double in, out;              // number received from it, and sent to it
  double in_bytes, out_bytes;  // bytes received from it, and sent to it
};

/// One list of arcs per task. Takes O(tasks + messages) time and memory; messages of a task to
/// itself are left out.
class Arcs {
 public:
  explicit Arcs(const Workload& workload);

  /// Returns one arc for each task that exchanges messages with t, in ascending order of Arc::task.
  std::span<const Arc> of(TaskId t) const {
    return {arcs_.data() + first_[t], first_[t + 1] - first_[t]};
  }
  /// Number of arcs, summed over all tasks.
  std::size_t count() const { return arcs_.size(); }

 private:
  std::vector<std::size_t> first_;  // per task, and one more
  std::vector<Arc> arcs_;
};

}  // namespace poise
