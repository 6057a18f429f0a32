// How much of the movable work each place should get: what partitioners aim at.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Per place, its part of all movable load if work could be split at will, such that every place
/// that gets any is equally busy: water poured into vessels as wide as the speeds, on a ground of
/// what cannot move. The parts sum up to 1; a place too busy already gets 0. O(tasks + p log p).
std::vector<double> fair_shares(const Machine& machine, const Workload& workload,
                                const Placement& current);

}  // namespace poise
