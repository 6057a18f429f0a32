// Subphases: parts of a phase that all places begin together, so that each ends with its busiest.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

constexpr std::uint32_t kMostSubphases = 64;

/// What tasks cost in each subphase, as the workload's `subphase_load_s` divides their load. It is
/// the parts that count, so loads may be scaled or predicted. What nobody divided, as background
/// load, messages and tasks without a row, falls to the subphases as all other load does.
class Subphases {
 public:
  /// Must not outlive the workload. O(tasks * subphases).
  explicit Subphases(const Workload& workload);

  /// At least 1, which is all there is where places do not wait, nothing is known or there would be
  /// more than kMostSubphases.
  std::uint32_t count() const { return static_cast<std::uint32_t>(part_.size()); }
  /// Of all load, in this subphase; they add up to 1.
  double part(std::uint32_t subphase) const { return part_[subphase]; }
  double load_s(TaskId t, std::uint32_t subphase) const;

 private:
  const Workload& workload_;
  std::vector<double> part_;       // per subphase
  std::vector<double> row_sum_s_;  // per task; 0: it has no row
};

/// How long places work in each subphase, background included: entry place * count + subphase.
std::vector<double> subphase_work_s(const Machine& machine, const Workload& workload,
                                    const Subphases& subphases, const Placement& placement);

}  // namespace poise
