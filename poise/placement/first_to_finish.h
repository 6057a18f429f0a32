// SPDX-License-Identifier: BSD-3-Clause
// Finds the place that finishes one more task first, on machines of one or several speeds.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/speed_groups.h"

namespace poise {

/// The busy seconds of all places, with queries for the place that finishes a task first.
///
/// Of the places of one speed, the least busy finishes the task first, so there is one tournament
/// tree per speed. With more than 32 different speeds, places of similar speed share a tree. The
/// answer is then the best among the least busy places of all trees, and another place might finish
/// the task slightly earlier.
class FirstToFinish {
 public:
  FirstToFinish(const Machine& machine, const std::vector<double>& busy_s)
      : machine_(machine), groups_(machine, busy_s) {}

  double busy_s(PlaceId p) const { return groups_.busy_s(p); }
  void set(PlaceId p, double busy_s) { groups_.set(p, busy_s); }
  void add(PlaceId p, double seconds) { groups_.add(p, seconds); }

  /// The place p for which busy_s(p) + load_s / (speed of p) is smallest; ties: the lower id.
  PlaceId with(double load_s) const;

 private:
  const Machine& machine_;
  SpeedGroups groups_;
};

}  // namespace poise
