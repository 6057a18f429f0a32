// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds: the iteration time, and the migrations needed to reach a makespan.
#pragma once

#include <cstdint>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Lower bound on the iteration of any placement: the larger of the makespan bound and, over tasks
/// t, load(t) + the sum over senders s of min(load(s), cost of s's messages at the least factor
/// between two places): s is either on t's place or not. O(tasks + messages).
double iteration_bound_s(const Machine& machine, const Workload& workload, const CostModel& costs,
                         const Placement& current);

struct LeastMigrations {
  std::uint64_t tasks = 0, bytes = 0;
};

/// Lower bounds on the migrations, and on the bytes migrated, of any placement with a makespan of
/// makespan_s or less. Each place that works longer now must give away tasks: at least its largest
/// ones; in bytes, at least those that cost least per second, the last one in part (a relaxed
/// knapsack). O(tasks log tasks).
LeastMigrations least_migrations(const Machine& machine, const Workload& workload,
                                 const Placement& current, double makespan_s);

}  // namespace poise
