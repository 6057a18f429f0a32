// SPDX-License-Identifier: BSD-3-Clause
// What a step would take if the places lent tasks to one another, as ranks with the tasks runtime
// do.
#pragma once

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/simulate/lending_simulation.h"
#include "poise/workload/workload.h"

namespace poise {

/// Returns the scenario that simulates one step. Each place becomes a rank with one thread. The
/// rank first does its background load and the tasks that cannot move; after that its movable tasks
/// can be lent. Latencies and the bandwidth of a node's card are those of the machine
/// (cost_model.h). For each lent task, the mean size of all tasks plus 128 bytes are transferred,
/// half of them on the way to the borrower. In the scenario all nodes have the same number of
/// places, the mean of the machine's nodes.
LendingScenario lending_scenario(const Machine& machine, const Workload& workload,
                                 const Placement& placement);

/// Returns the seconds from the start of the step until every rank knows that all tasks have
/// finished. Does not simulate messages between tasks. O(events log events), with a few events per
/// task.
double lent_step_s(const Machine& machine, const Workload& workload, const Placement& placement);

}  // namespace poise
