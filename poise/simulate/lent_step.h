// SPDX-License-Identifier: BSD-3-Clause
// What a step would take if the places lent tasks to one another, as ranks with the tasks runtime
// do.
#pragma once

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/simulate/lending_simulation.h"
#include "poise/workload/workload.h"

namespace poise {

/// The step as a scenario: each place is a rank with one thread, and its movable tasks can be lent.
/// Background loads and tasks that cannot move keep the rank busy before that. Latencies and the
/// bandwidth of a node's card are the machine's (cost_model.h); a lent task takes its size and 128
/// bytes, half of them on the way there. Nodes have the mean number of places.
LendingScenario lending_scenario(const Machine& machine, const Workload& workload,
                                 const Placement& placement);

/// Seconds from the start of the step until every rank knows that all tasks have finished.
/// Messages between tasks are not simulated. O(events log events), some events per task.
double lent_step_s(const Machine& machine, const Workload& workload, const Placement& placement);

}  // namespace poise
