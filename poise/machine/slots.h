// The part of a machine that a program's ranks or threads occupy, as a machine of its own.
#pragma once

#include <span>

#include "poise/machine/machine.h"

namespace poise {

/// One place per entry of `places`, which ascend and are on every node of the machine or on one
/// only. What shares a place of the machine (more ranks than cores) becomes several places of equal
/// speed below it, in groups of the machine's last level. Levels, domains and factors stay what
/// they are. Throws Error when places descend, do not exist, or leave out a node but not all
/// others.
Machine slots_of(const Machine& machine, std::span<const PlaceId> places);

}  // namespace poise
