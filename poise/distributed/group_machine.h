// SPDX-License-Identifier: BSD-3-Clause
// A machine whose places are groups of places of another: what a leader decides on.
#pragma once

#include <span>

#include "poise/machine/machine.h"

namespace poise {

/// Places [first, end) that become one place.
struct PlaceRange {
  PlaceId first = 0, end = 0;
  /// The new place only holds the far ends of messages: it is so slow that no task moves there.
  bool is_port = false;
};

/// The ranges are in ascending order and disjoint; each holds whole groups of the machine's levels
/// or is part of one. A new place is as fast as its places together; messages and migrations cost
/// it their CPU time divided by the number of its places, and its cards and buses add up. Distances
/// are those between the first places of the ranges. If every range is one place, times are those
/// of the machine itself.
Machine machine_of_groups(const Machine& machine, std::span<const PlaceRange> ranges);

}  // namespace poise
