// Which place each part of a partition should be: the one that holds most of its load already.
#pragma once

#include <cstddef>
#include <span>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"

namespace poise {

/// The placement with nodes renamed among equals, then places inside a node, so that much load
/// stays where it is in `current`, and what was near stays near.
///
/// In order of the load they have in common, a part and a place are joined where both are free and
/// their shares agree within 1 %; the rest keeps its place where it is free. Tasks that may not
/// move do not count, and stay. Ties: lower part, lower place. O(n log n).
Placement renamed_to_stay(const Machine& machine, const Workload& workload,
                          const Placement& current, const Placement& placement,
                          std::span<const double> shares);

/// The placement with the groups of one level renamed among those of equal size in the same group
/// of the level above, as renamed_to_stay renames nodes. O(n log n).
Placement renamed_in_level(const Machine& machine, const Workload& workload,
                           const Placement& current, const Placement& placement,
                           std::span<const double> shares, std::size_t level);

}  // namespace poise
