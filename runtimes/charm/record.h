// What the balancers of a process write down: a trace and a log of their decisions.
#pragma once

#include "runtimes/balance/ask.h"
#include "runtimes/charm/convert.h"
#include "runtimes/charm/settings.h"
#include "runtimes/charm/stage.h"
#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// One decision, with what it was made from.
struct Made {
  const Settings& settings;
  const Stage& stage;
  const Statistics& statistics;
  const std::vector<std::uint32_t>& row_of_task;
  const balance::Census& census;
  const Placement& placement;
  double decide_s;
};

/// Adds to the files that the settings name, of which a process has one each: the first balancer's,
/// complete when the program exits. Throws Error where they cannot be written.
void write_down(const Made& made);

}  // namespace poise::charm
