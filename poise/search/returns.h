// SPDX-License-Identifier: BSD-3-Clause
// Decides how much of a new placement to adopt: all of its moves, a few of them, or none.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/placement/problem.h"

namespace poise {

/// A placement and what it costs in seconds.
struct Outcome {
  Placement placement;
  double iteration_s = 0, migration_s = 0;
  double makespan_s = 0, average_s = 0;  // the iteration without messages; the mean busy time
  std::uint64_t migrated_bytes = 0;

  double total_s(double steps) const { return steps * iteration_s + migration_s; }
};

/// Computes what the placement costs, with migrations from the current one. O(tasks + messages).
Outcome outcome_of(const Problem& problem, Placement placement);

/// The curve of total time against moved tasks, from the placement `far` back to the current one.
/// Each point allows a longer iteration than the point before; every task whose return fits into
/// that time goes back to its current place, largest first. The first point has at most the
/// iteration time of `far`; the last one is the current placement. Tasks return only to places with
/// room in memory (memory_room.h). O(points * (messages of moved tasks + tasks)).
std::vector<Outcome> curve_to_current(const Problem& problem, const Placement& far,
                                      std::uint64_t place_cap_bytes);

/// The point of this curve with the shortest total time, steps * iteration + migration. Among the
/// points within `tolerance` of it, the one that moves the fewest bytes is chosen. The function
/// stops after the total has increased twice.
Outcome best_on_the_way(const Problem& problem, const Placement& far, double steps,
                        double tolerance, std::uint64_t place_cap_bytes);

/// The placement after all single returns that shorten the total, so that every remaining move
/// saves more than it costs. On large problems only some returns are tried: each takes O(tasks +
/// messages), and at most a few hundred thousand entries are examined in all.
Outcome without_needless_moves(const Problem& problem, Outcome outcome, double steps,
                               std::uint64_t place_cap_bytes);

}  // namespace poise
