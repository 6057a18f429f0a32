// SPDX-License-Identifier: BSD-3-Clause
// A lower bound on the time of ranks that lend tasks to one another.
#pragma once

#include "poise/simulate/lending_scenario.h"

namespace poise {

/// Lower bound on the makespan of any schedule. It is the longest of three times: that of all work
/// at the total speed of all ranks, that of the longest task on the fastest rank, and the longest
/// time that any rank, or the card of any node, needs to lend the work that the rank or node cannot
/// do itself.
double ideal_makespan_s(const LendingScenario& scenario);

}  // namespace poise
