// The PEs of a job as a machine.
#pragma once

#include <vector>

#include "runtimes/charm/convert.h"
#include "runtimes/charm/settings.h"
#include "runtimes/charm/statistics.h"

#include "poise/machine/machine.h"

namespace poise::charm {

/// The machine of the PEs that are available, and which is which place.
struct Stage {
  Machine machine;
  Seating seating;
  std::vector<double> speed_of_place;
};

/// What each host is: settings.machine, else like this one, which takes hwloc some milliseconds.
Machine host_of(const Settings& settings);

/// Every host is `host`. Speeds that Charm++ measured count, unless it measured none (all are the
/// same): then the machine's. Throws Error where no PE is available, or a speed is none.
Stage stage_of(const Machine& host, const Statistics& statistics);

/// Whether rows of PEs make the same stage.
bool is_same_stage(const std::vector<PeRow>& a, const std::vector<PeRow>& b);

}  // namespace poise::charm
