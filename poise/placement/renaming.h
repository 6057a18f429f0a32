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
/// The tasks that `placement` puts on one place are a part. Visits pairs of a part and a place in
/// descending order of the part's load that is now on the place. Joins a pair if neither is joined
/// yet and their shares of the load agree within 1 %. A part that was not joined stays on its place
/// in `placement` if that is free. Tasks that are not movable stay and do not count. Ties: lower
/// part, then lower place. O(n log n).
Placement renamed_to_stay(const Machine& machine, const Workload& workload,
                          const Placement& current, const Placement& placement,
                          std::span<const double> shares);

/// Renames only the groups of one level, so that most load stays where it is. Groups exchange names
/// only with groups of equal size in the same group of the level above. O(n log n).
Placement renamed_in_level(const Machine& machine, const Workload& workload,
                           const Placement& current, const Placement& placement,
                           std::span<const double> shares, std::size_t level);

}  // namespace poise
