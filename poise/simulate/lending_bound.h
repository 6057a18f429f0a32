// SPDX-License-Identifier: BSD-3-Clause
// A lower bound on the time of ranks that lend tasks to one another.
#pragma once

#include "poise/simulate/lending_scenario.h"

namespace poise {

/// Lower bound on the makespan of any schedule. It is the longest of three times: the time of all
/// work at the total speed of all ranks; the time in which the fastest rank runs the longest task
/// and then one of its children, if any; and the longest time that any rank, or the network card of
/// any node, needs to lend the work that the rank or node cannot do itself.
double ideal_makespan_s(const LendingScenario& scenario);

}  // namespace poise
