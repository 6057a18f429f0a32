// SPDX-License-Identifier: BSD-3-Clause
// How much a decision may still compute.
#pragma once

#include <algorithm>
#include <cstdint>

namespace poise {

/// Counted in scans, not in seconds, so that the same input gives the same placement everywhere.
/// A scan is one task or arc examined: about Tuning::scan_s seconds.
class ScanBudget {
 public:
  explicit ScanBudget(double scans) : left_(std::max(0.0, scans)) {}

  double left() const { return left_; }
  bool allows(double scans) const { return scans <= left_; }
  void spend(double scans) { left_ = std::max(0.0, left_ - scans); }

 private:
  double left_;
};

}  // namespace poise
