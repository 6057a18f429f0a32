// SPDX-License-Identifier: BSD-3-Clause
// Limits the computing time of a load-balancing decision.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace poise {

/// The budget is counted in scans, not in seconds, so that the same input gives the same placement
/// on any machine. A scan examines one task or arc, which takes about Tuning::scan_s seconds.
class ScanBudget {
 public:
  explicit ScanBudget(double scans) : left_(std::max(0.0, scans)) {}

  double left() const { return left_; }
  bool allows(double scans) const { return scans <= left_; }
  /// Number of steps that fit into the budget if each step takes `scans` scans; at most 1e15, even
  /// if the budget is infinite.
  std::size_t num_steps(double scans) const {
    return static_cast<std::size_t>(std::min(left_ / scans, 1e15));
  }
  void spend(double scans) { left_ = std::max(0.0, left_ - scans); }

 private:
  double left_;
};

}  // namespace poise
