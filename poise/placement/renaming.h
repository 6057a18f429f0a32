// SPDX-License-Identifier: BSD-3-Clause
// Renames the places of a partition so that most load stays where it is.
#pragma once

#include <cstddef>
#include <span>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"

namespace poise {

/// Renames nodes among equal nodes, then places inside each node, so that as much load as possible
/// stays where it is in `current`, and tasks on the same node stay together.
///
/// Visits pairs of a part and a place in descending order of the load that they have in common. It
/// joins a pair if both are free and their shares agree within 1 %. Other parts keep their place if
/// it is free. Tasks that are not movable stay and do not count. Ties: lower part, then lower
/// place. O(n log n).
Placement renamed_to_stay(const Machine& machine, const Workload& workload,
                          const Placement& current, const Placement& placement,
                          std::span<const double> shares);

/// Renames only the groups of one level, so that most load stays where it is. Groups exchange names
/// only with groups of equal size in the same group of the level above. O(n log n).
Placement renamed_in_level(const Machine& machine, const Workload& workload,
                           const Placement& current, const Placement& placement,
                           std::span<const double> shares, std::size_t level);

}  // namespace poise
