// SPDX-License-Identifier: BSD-3-Clause
// Writes the decisions of a process's balancers to a trace and a log.
#pragma once

#include "runtimes/balance/run_strategy.h"
#include "runtimes/charm/convert.h"
#include "runtimes/charm/settings.h"
#include "runtimes/charm/stage.h"
#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// A decision together with its input.
struct Made {
  const Settings& settings;
  const Stage& stage;
  const Statistics& statistics;
  const std::vector<std::uint32_t>& row_of_task;
  const balance::MeasuredPhase& phase;
  const Placement& placement;
  double decide_s;
};

/// Appends to the files that the settings name. A process has one file of each kind, opened by its
/// first balancer and complete when the program exits. Throws Error if a file cannot be written.
void write_down(const Made& made);

}  // namespace poise::charm
