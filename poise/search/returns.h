// SPDX-License-Identifier: BSD-3-Clause
// Decides how far to follow a placement: all of its moves, few of them, or none.
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

/// What the placement costs, counted from the current one. O(tasks + messages).
Outcome outcome_of(const Problem& problem, Placement placement);

/// The curve of total time against moved tasks, from `far` to the current placement. Each point
/// allows a longer iteration than the point before and returns to its current place every task that
/// fits into that time, largest first. The first point has at most the iteration of `far`, the last
/// is the current placement. Tasks return only where they have room in memory (memory_room.h).
/// O(points * (messages of moved tasks + tasks)).
std::vector<Outcome> curve_to_current(const Problem& problem, const Placement& far,
                                      std::uint64_t place_cap_bytes);

/// The point of this curve with the shortest total time, steps * iteration + migration; of those
/// within `tolerance` of it, the one that moves the fewest bytes. Points after the total has risen
/// twice are not computed.
Outcome best_on_the_way(const Problem& problem, const Placement& far, double steps,
                        double tolerance, std::uint64_t place_cap_bytes);

/// The outcome after every single return that shortens the total: then none is left that does, and
/// the placement pays for each of its moves. On large problems only some returns are tried:
/// O(tasks + messages) for each, at most a few hundred thousand in all.
Outcome without_needless_moves(const Problem& problem, Outcome outcome, double steps,
                               std::uint64_t place_cap_bytes);

}  // namespace poise
