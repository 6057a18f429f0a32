// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on the iteration time, and on the migrations needed to reach a makespan.
#pragma once

#include <cstdint>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Lower bound on the iteration time of any placement. It is the larger of the makespan bound and
/// the maximum over tasks t of
///
///     time(t) + sum over senders s of min(time(s), cost of s's messages at the smallest factor)
///
/// where time(t) is t's load on the fastest place. Each sender s is either on t's place and adds
/// time(s), or on another place and adds at least the cost of its messages. Under the formula
/// `physical`, or if subphases overlap or have speeds of their own, the bound is only the makespan
/// bound. O(tasks + messages).
double iteration_bound_s(const Machine& machine, const Workload& workload, const CostModel& costs,
                         const Placement& current);

struct LeastMigrations {
  std::uint64_t tasks = 0, bytes = 0;
};

/// Lower bounds on the number of migrations and on the bytes migrated, for any placement with a
/// makespan of at most makespan_s. Each place that works longer than makespan_s must give away
/// tasks. The number is lowest if the place gives away its largest tasks. The bytes are lowest if
/// it gives away the tasks with the fewest bytes per second of load, and the last one in part (a
/// relaxed knapsack). Both bounds are 0 if subphases overlap or have speeds of their own. O(tasks
/// log tasks).
LeastMigrations least_migrations(const Machine& machine, const Workload& workload,
                                 const Placement& current, double makespan_s);

}  // namespace poise
