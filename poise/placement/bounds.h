// What no placement can beat: its iteration, and the migrations to get to its makespan.
#pragma once

#include <cstdint>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// No placement has a shorter iteration: the bound on the makespan, or, of the place of some task,
/// the task's load and, for each of those that send to it, the lesser of that one's load, were it
/// there too, and of its messages at the least factor between two places. O(tasks + messages).
double iteration_bound_s(const Machine& machine, const Workload& workload, const CostModel& costs,
                         const Placement& current);

struct LeastMigrations {
  std::uint64_t tasks = 0, bytes = 0;
};

/// No placement whose makespan is makespan_s or less has fewer migrations, or moves fewer bytes:
/// each place that works longer now gives away its largest tasks, or by bytes its cheapest per
/// second and a part of the last (a knapsack, relaxed). O(tasks log tasks).
LeastMigrations least_migrations(const Machine& machine, const Workload& workload,
                                 const Placement& current, double makespan_s);

}  // namespace poise
