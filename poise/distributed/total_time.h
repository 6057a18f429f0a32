// SPDX-License-Identifier: BSD-3-Clause
// The predicted cost of a placement of all ranks' tasks, by the formulas of placement/metrics.h.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/distributed/communicator.h"
#include "poise/distributed/own_graph.h"
#include "poise/distributed/own_tasks.h"
#include "poise/machine/machine.h"

namespace poise {

/// Predicted times in seconds; the members have the same meaning as in Metrics
/// (placement/metrics.h).
struct PlannedTimes {
  double iteration_s = 0, migration_s = 0;

  double total_s(double steps) const { return steps * iteration_s + migration_s; }
};

/// Collective. Returns the predicted times of an iteration and of the migration if task t of this
/// rank migrates to rank targets[t]. `graph` must belong to `own`. The result is the same on all
/// ranks. Memory: 32 bytes per pair of ranks between which messages of own tasks would travel, and
/// 8 bytes per shared resource of the machine.
PlannedTimes planned_times(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                           const OwnGraph& graph, const std::vector<std::uint32_t>& targets);

}  // namespace poise
