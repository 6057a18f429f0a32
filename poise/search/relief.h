// SPDX-License-Identifier: BSD-3-Clause
// Relieves overloaded places with few moves: the algorithm of strategy `refine`, which strategy
// `poise` also tries.
#pragma once

#include <optional>
#include <vector>

#include "poise/placement/problem.h"
#include "poise/placement/tasks_by_place.h"

namespace poise {

/// Moves tasks away from overloaded places, the busiest place first. Each place gives away the
/// smallest task that brings it below a threshold or, if there is none, the largest task that fits
/// elsewhere. The task goes to the place that finishes it first. In this way few tasks move. Of
/// equal tasks or places, the one with the lower id is chosen. Ignores how moves change the times
/// of messages.
class Relief {
 public:
  /// `busy_s` is the busy time of each place under the current placement. O(tasks + places).
  Relief(const Problem& problem, std::vector<double> busy_s);

  double busiest_s() const;
  /// Starting from the current placement, moves tasks until no place exceeds the threshold. Returns
  /// the new placement, or nothing if the moves do not reach the threshold. O(tasks + (places +
  /// moves) log places).
  std::optional<Placement> to(double threshold_s) const;

 private:
  const Problem& problem_;
  const TasksByPlace tasks_;
  const std::vector<double> busy_s_;
};

/// Tries several thresholds between the average and the largest busy time of work and messages, and
/// then more of them near the best one. Returns the placement for which `steps` times the threshold
/// plus the migration time is shortest, or nothing if that sum is not shorter than `steps` times
/// the largest busy time.
std::optional<Placement> with_few_moves(const Problem& problem, double steps);

}  // namespace poise
