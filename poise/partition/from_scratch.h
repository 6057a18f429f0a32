// A placement made anew: little traffic between far places, no place over a cap on its work.
#pragma once

#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

struct Effort {
  unsigned attempts = kTuning.attempts;  // at each cut of the tasks in two
  unsigned climbs = kTuning.climbs;      // of the descent on traffic, over what costs more at first
  unsigned threads = 1;                  // the placement is the same
};

/// Tasks cut apart along the tree of the machine (multisection.h), then moved one by one while the
/// seconds of all messages fall, and the cap held wherever moves and exchanges can; last, groups of
/// places that are alike exchange their tasks so that many stay where they are. What may not move
/// stays. O((n + m) log p).
Placement placed_from_scratch(const Problem& problem, const Effort& effort,
                              const Tuning& tuning = kTuning);

}  // namespace poise
