// SPDX-License-Identifier: BSD-3-Clause
// Lets all movable objects leave PEs that are unavailable, in a decision by all PEs together. The
// decision treats such PEs as very slow places.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/charm/own_arrays.h"

#include "poise/machine/machine.h"

namespace poise::charm {

/// For each place, whether its PE is unavailable.
using Unavailable = std::vector<char>;

/// Returns the machine in which unavailable places have the lowest speed that a place may have.
/// Throws Error if no place is available.
Machine slowed(const Machine& machine, const Unavailable& unavailable);

/// To be called if this PE is unavailable. Sets the loads that cannot leave the PE (background load
/// and loads of pinned objects) to 0, so that strategies do not try to balance these loads.
void drop_fixed_loads(OwnArrays& arrays);

/// Corrects a decision of the rank `own`. A task that a strategy assigned to an unavailable place
/// stays on its rank or, if that rank is unavailable, goes to an available place (round-robin).
/// Tasks that cannot move stay.
void avoid(const Unavailable& unavailable, const OwnArrays& arrays, std::uint32_t own,
           std::vector<std::uint32_t>& rank_of_task);

}  // namespace poise::charm
