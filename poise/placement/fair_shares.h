// SPDX-License-Identifier: BSD-3-Clause
// Each place's fair share of the movable work: the target of partitioners.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Per place, the fraction of all movable load that it should get if load could be split anywhere.
/// All places that get work are then equally busy, given their speeds and their fixed work (the
/// water-filling problem). The fractions add up to 1; a place with too much fixed work gets 0.
/// O(tasks + p log p).
std::vector<double> fair_shares(const Machine& machine, const Workload& workload,
                                const Placement& current);

}  // namespace poise
