// One decision of a strategy, with the clocks around it.
#pragma once

#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise::apps {

struct Decision {
  Placement placement;
  double cpu_s = 0;  // of the whole process: threads add up
  double wall_s = 0;
};

/// Runs the strategy and checks what it returns. Throws what the strategy throws.
Decision decide(const Choice& choice, const Problem& problem);

}  // namespace poise::apps
