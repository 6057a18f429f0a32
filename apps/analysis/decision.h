// Runs one strategy once and measures the time of its decision.
#pragma once

#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise::apps {

struct Decision {
  Placement placement;
  double cpu_s = 0;  // CPU time of the whole process, summed over threads
  double wall_s = 0;
};

/// Runs the strategy and checks its placement. Throws what the strategy throws.
Decision decide(const Choice& choice, const Problem& problem);

}  // namespace poise::apps
