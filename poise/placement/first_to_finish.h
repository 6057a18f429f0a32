// SPDX-License-Identifier: BSD-3-Clause
// Finds the place that finishes one more task first, on machines of one or several speeds.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/speed_groups.h"

namespace poise {

/// The busy seconds of all places, with queries for the place that finishes a task first.
///
/// Places of one speed share a tournament tree. With more than 32 different speeds, similar speeds
/// share one, and the answer is the best of the least busy places of all groups.
class FirstToFinish {
 public:
  FirstToFinish(const Machine& machine, const std::vector<double>& busy_s)
      : machine_(machine), groups_(machine, busy_s) {}

  double busy_s(PlaceId p) const { return groups_.busy_s(p); }
  void set(PlaceId p, double busy_s) { groups_.set(p, busy_s); }
  void add(PlaceId p, double seconds) { groups_.add(p, seconds); }

  /// The place with the least busy + load / speed; ties: the lower id.
  PlaceId with(double load_s) const;

 private:
  const Machine& machine_;
  SpeedGroups groups_;
};

}  // namespace poise
