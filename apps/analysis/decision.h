// SPDX-License-Identifier: BSD-3-Clause
// Runs one strategy once and measures the time of its decision.
#pragma once

#include <string>

#include "apps/analysis/contender.h"

#include "poise/placement/metrics.h"

namespace poise::apps {

struct Decision {
  Placement placement;
  double cpu_s = 0;  // CPU time of the whole process, summed over threads
  double wall_s = 0;
  /// Says by how much the placement exceeds the memory limits that the strategy respects. Empty if
  /// the placement exceeds no limit, or if the strategy ignores memory.
  std::string memory_note = {};
};

/// Runs the strategy and checks its placement. Throws whatever the strategy throws.
Decision decide(const Contender& contender, const Problem& problem);

}  // namespace poise::apps
