// The page of `poise compare --html`.
#pragma once

#include <string>
#include <vector>

#include "apps/comparison.h"
#include "apps/inputs.h"
#include "apps/traffic.h"

#include "poise/trace/timeline.h"

namespace poise::apps {

/// One machine's part of the page: what was compared, and the two placements that are drawn.
struct ComparePart {
  Comparison comparison;
  PlaceTimes times_before, times_after;  // now, and under the best strategy
  Traffic traffic_before, traffic_after;
  Moves moves;
};

/// Adds to a comparison what its pictures need.
ComparePart with_pictures(Comparison comparison, const Problem& problem);

/// `heading` says which trace; `timelines` are of real runs, drawn ahead of the machines; `every`
/// is the K of the amortised total.
std::string compare_page(const std::vector<ComparePart>& parts, const std::string& heading,
                         std::uint64_t every, const std::vector<Timeline>& timelines = {});

}  // namespace poise::apps
