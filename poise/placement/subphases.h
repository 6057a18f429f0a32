// SPDX-License-Identifier: BSD-3-Clause
// Subphases: parts of a phase after each of which all places wait for the busiest.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

constexpr std::uint32_t kMaxSubphases = 64;

/// The load of each task in each subphase, from the workload's `subphase_load_s`. Only the ratios
/// within a row matter, so loads may be scaled or predicted. Load without such a row (background,
/// messages, other tasks) is divided in the same ratio as the sum of all rows.
class Subphases {
 public:
  /// Keeps a reference to the workload. O(tasks * subphases).
  explicit Subphases(const Workload& workload);

  /// Number of subphases. It is 1 if places do not wait for each other, if loads per subphase are
  /// unknown, or if there would be more than kMaxSubphases.
  std::uint32_t count() const { return static_cast<std::uint32_t>(part_.size()); }
  /// The fraction of all load in this subphase; the fractions add up to 1.
  double part(std::uint32_t subphase) const { return part_[subphase]; }
  double load_s(TaskId t, std::uint32_t subphase) const;

 private:
  const Workload& workload_;
  std::vector<double> part_;       // per subphase
  std::vector<double> row_sum_s_;  // per task; 0: no row
};

/// Work seconds of each place in each subphase, including background load, at index place * count +
/// subphase.
std::vector<double> subphase_work_s(const Machine& machine, const Workload& workload,
                                    const Subphases& subphases, const Placement& placement);

}  // namespace poise
