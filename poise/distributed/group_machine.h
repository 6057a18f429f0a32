// SPDX-License-Identifier: BSD-3-Clause
// Builds a coarser machine, each place of which represents a group of places of the original.
#pragma once

#include <span>

#include "poise/machine/machine.h"

namespace poise {

/// The places first to end - 1 of the original machine, which become one place of the coarser one.
struct PlaceRange {
  PlaceId first = 0, end = 0;
  /// True if the new place is a port, which only sends and receives messages. Ports are so slow
  /// that no task moves there.
  bool is_port = false;
};

/// Returns the coarser machine. The ranges in `ranges` are disjoint and in ascending order. Each
/// range consists of whole groups of some level, or lies inside one group. The speed of a new place
/// is the sum of the speeds in its range. The costs are those of an average range (ports are left
/// out of the average): the CPU time per message or migration is divided by its number of places,
/// and the bandwidths of its network cards and of its buses are added. The distance between two new
/// places is that between the first places of their ranges. If every range has one place, all
/// predicted times equal those on the original machine.
Machine machine_of_groups(const Machine& machine, std::span<const PlaceRange> ranges);

}  // namespace poise
