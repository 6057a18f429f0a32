// SPDX-License-Identifier: BSD-3-Clause
// Renames the places of a partition so that most load stays where it is.
#pragma once

#include <cstddef>
#include <span>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"

namespace poise {

/// First, equal nodes exchange their names; then the places inside each node do. The aim is that as
/// much load as possible stays where it is in `current`, and that tasks on the same node stay
/// together. shares[p] is the fraction of the load that place p should get.
///
/// A part is the set of tasks that `placement` puts on one place. The pairs of a part and a place
/// are visited in descending order of the part's load that is on this place in `current`. The part
/// gets the place if it has no new place yet, if no other part has got this place, and if the
/// shares of this place and of the part's place in `placement` differ by at most 1 %. A part that
/// gets no place in this way stays on its place in `placement` if that is free. Tasks that are not
/// movable stay and do not count. Ties go to the lower part, then to the lower place. O(n log n).
Placement renamed_to_stay(const Machine& machine, const Workload& workload,
                          const Placement& current, const Placement& placement,
                          std::span<const double> shares);

/// Renames only the groups of one level, so that most load stays where it is. Groups exchange names
/// only with groups of equal size in the same group of the level above. O(n log n).
Placement renamed_in_level(const Machine& machine, const Workload& workload,
                           const Placement& current, const Placement& placement,
                           std::span<const double> shares, std::size_t level);

}  // namespace poise
