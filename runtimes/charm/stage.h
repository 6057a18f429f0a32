// SPDX-License-Identifier: BSD-3-Clause
// Describes the PEs of a job as a Machine.
#pragma once

#include <vector>

#include "runtimes/charm/convert.h"
#include "runtimes/charm/settings.h"
#include "runtimes/charm/statistics.h"

#include "poise/machine/machine.h"

namespace poise::charm {

/// A machine whose places are the available PEs, and the mapping between PEs and places.
struct Stage {
  Machine machine;
  PeMap pe_map;
  std::vector<double> speed_of_place;
};

/// The description of one host. It is read from settings.machine, or if that is empty, from this
/// host's hardware by hwloc, which takes a few milliseconds.
Machine host_of(const Settings& settings);

/// Returns the available PEs as a machine in which every host looks like `host`. The speeds of the
/// PEs are those that Charm++ measured. If all of those are equal, Charm++ has measured none, and
/// the speeds in `host` are used. Throws Error if no PE is available or a speed is invalid.
Stage stage_of(const Machine& host, const Statistics& statistics);

/// True if both lists describe the same PEs, so that the Stage built for one list is also right for
/// the other.
bool is_same_stage(const std::vector<PeRow>& a, const std::vector<PeRow>& b);

}  // namespace poise::charm
