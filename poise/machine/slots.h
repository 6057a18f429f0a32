// SPDX-License-Identifier: BSD-3-Clause
// The part of a machine that a program's ranks or threads occupy, as a machine of its own.
#pragma once

#include <span>

#include "poise/machine/machine.h"

namespace poise {

/// Returns a machine with one place per entry of `places`. The entries must be in ascending order.
/// Either all entries are on one node, or each node of the machine contains at least one entry. If
/// a place is repeated (more ranks than cores), it becomes several places of equal speed in one
/// group of the machine's last level. Levels, domains and factors stay the same. Throws Error if
/// places are not in ascending order, do not exist, or are on more than one but not all nodes.
Machine slots_of(const Machine& machine, std::span<const PlaceId> places);

}  // namespace poise
