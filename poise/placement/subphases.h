// SPDX-License-Identifier: BSD-3-Clause
// Subphases: parts of a phase with loads of their own. Either all places wait for the busiest one
// after each subphase, or each subphase is a kind of work that overlaps with the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

constexpr std::uint32_t kMaxSubphases = 64;

/// The load of each task in each subphase. A task's row in the workload's `subphase_load_s` gives
/// only the ratio in which the task's load is divided among the subphases. So the load itself may
/// be scaled or predicted. Background load, messages, and tasks without a row are divided in the
/// same ratio as the sum of all tasks with rows.
class Subphases {
 public:
  /// Keeps a reference to the workload. O(tasks * subphases).
  explicit Subphases(const Workload& workload);

  /// Number of subphases. It is 1 if only the sum of a task's loads in all subphases counts
  /// (SubphaseRule::no_wait), if loads per subphase are unknown, or if the workload has more than
  /// kMaxSubphases subphases.
  std::uint32_t count() const { return static_cast<std::uint32_t>(part_.size()); }
  /// The fraction of all load in this subphase; the fractions add up to 1.
  double part(std::uint32_t subphase) const { return part_[subphase]; }
  double load_s(TaskId t, std::uint32_t subphase) const;
  /// The speed of a place in a subphase.
  double speed_of(const Machine& machine, PlaceId p, std::uint32_t subphase) const;
  /// The fraction of a place's messages and background load that belongs to this subphase. If
  /// subphases overlap, the first one is the work of the processor cores, and all messages and
  /// background load belong to it.
  double part_of_rest(std::uint32_t subphase) const {
    return overlap() ? (subphase == 0 ? 1 : 0) : part(subphase);
  }
  /// True if the subphases run at the same time, so that the longest of them counts.
  bool overlap() const { return count() > 1 && workload_.subphase_rule == SubphaseRule::overlap; }
  /// Adds up the times of the subphases, or returns the longest if they overlap.
  double time_of_all_s(std::span<const double> seconds) const;

 private:
  const Workload& workload_;
  std::vector<double> part_;  // per subphase
  std::vector<double>
      /// For each task, the sum of its loads in all subphases; 0 if only its total load is known.
      row_sum_s_;
};

/// Work seconds of each place in each subphase, including background load, at index place * count +
/// subphase.
std::vector<double> subphase_work_s(const Machine& machine, const Workload& workload,
                                    const Subphases& subphases, const Placement& placement);

}  // namespace poise
