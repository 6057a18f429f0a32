// SPDX-License-Identifier: BSD-3-Clause
// The part of a machine that a program's ranks or threads occupy, as a machine of its own.
#pragma once

#include <span>

#include "poise/machine/machine.h"

namespace poise {

/// A machine with one place per entry of `places`. The entries must be in ascending order, and
/// either on every node of the machine or on one node only. Entries that repeat a place (more ranks
/// than cores) become several places of equal speed in one group of the machine's last level.
/// Levels, domains and factors stay the same. Throws Error if places are not in ascending order, do
/// not exist, or are on several nodes but not on all.
Machine slots_of(const Machine& machine, std::span<const PlaceId> places);

}  // namespace poise
