// SPDX-License-Identifier: BSD-3-Clause
// Decides how many moves of a new placement to carry out: all of them, a few, or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "poise/placement/busy_times.h"
#include "poise/placement/problem.h"

namespace poise {

/// A placement and its predicted times in seconds.
struct Outcome {
  Placement placement;
  double iteration_s = 0, migration_s = 0;
  double makespan_s = 0;  // time of an iteration without its messages
  std::uint64_t migrated_bytes = 0;

  double total_s(double steps) const { return steps * iteration_s + migration_s; }
};

/// Computes the costs of a placement and of the migrations to it. O(tasks + messages).
Outcome outcome_of(const Problem& problem, Placement placement);

/// The input that the functions below share. It can be made once and used for several placements.
struct Way {
  explicit Way(const Problem& its_problem, double its_steps = 1, std::uint64_t cap_bytes = 0);

  const Problem& problem;
  double steps;                   // iterations that follow
  std::uint64_t place_cap_bytes;  // 0: none
  std::shared_ptr<const BusyTimes::Shared> shared;
  Outcome current;
};

/// The curve of total time against moved tasks, on the way from the placement `far` back to the
/// current one. Each point limits the iteration time, less strictly than the point before. Tasks
/// return to their places in the current placement, those with most bytes first, if the iteration
/// stays within the limit. The limit of the first point is the iteration time of `far`; the last
/// point is the current placement. Tasks return only to places with room for them (room.h).
///
/// Tasks that return may make places wait longer for messages, and these waiting times are computed
/// only after all tasks of a point have returned. So an iteration may exceed the limit of its
/// point. Therefore the curve begins with `far` if the first point's iteration is longer than that
/// of `far`. A point is left out if its iteration is no shorter than that of a later point, because
/// fewer tasks move for the later point. O(points * (messages of moved tasks + tasks)).
std::vector<Outcome> curve_to_current(const Way& way, const Placement& far);

/// Compares the total time, steps * iteration + migration, of `far` and of some points on the way
/// from there back to the current placement. Of those whose total exceeds the shortest one by at
/// most the fraction `tolerance`, returns the one with the fewest migrated bytes.
///
/// To save computing time, not all points are tried. If the migration to `far` takes at most the
/// fraction `tolerance` of the total time of `far`, only the first and the last point are tried.
/// Otherwise the search skips to the last point once the total has increased from one point to the
/// next for the second time. `far` is compared, too, because its total can be shorter than that of
/// the first point: tasks that return may make other places wait longer for shared resources, and
/// these waiting times are computed only after all tasks of that point have returned.
Outcome best_on_the_way(const Way& way, const Outcome& far, double tolerance);

/// Moves single tasks back to their places in the current placement as long as that shortens the
/// total time, so that every remaining move saves more than it costs. Tries at most `max_trials`
/// returns, which take O(tasks + messages) each.
Outcome without_needless_moves(const Way& way, Outcome outcome, std::size_t max_trials);

}  // namespace poise
