// SPDX-License-Identifier: BSD-3-Clause
// The tasks of a phase as threads that share their places and are moved by Juggle.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

struct ThreadsRun {
  std::vector<double> done_s;  // for each place, the time at which all its work was done
  std::uint64_t swaps = 0;
};

/// Runs the tasks until all are done. Each place shares its time fairly among its unfinished tasks.
/// Every period_s seconds, juggle_swaps() (online/juggle.h) exchanges tasks inside the memory
/// domains, as in `poise juggle`. It uses the progress of the tasks in this phase and the measured
/// speeds of places. Measurements are precise, and swaps cost nothing. A place runs its background
/// load after its tasks. Throws Error if the period is not above 0, or if there would be more than
/// 10^5 balancing points in the time of the busiest place. O(points * (tasks log tasks + places log
/// places)).
ThreadsRun run_threads(const Machine& machine, const Workload& workload, const Placement& placement,
                       double period_s);

}  // namespace poise
