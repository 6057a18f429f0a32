// SPDX-License-Identifier: BSD-3-Clause
// Builds the page of `poise compare --html`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/comparison.h"
#include "apps/analysis/inputs.h"
#include "apps/analysis/traffic.h"
#include "apps/report/phase_pictures.h"

#include "poise/trace/timeline.h"

namespace poise::apps {

/// The part of the page for one machine: the comparison, and the data of the two placements that
/// are drawn.
struct ComparePart {
  Comparison comparison;
  PlaceTimes times_before, times_after;  // times now, and with the best strategy's placement
  Traffic traffic_before, traffic_after;
  Moves moves;
  std::vector<RecordedPhase> phases;  // see recorded_phases()
};

/// Adds to a comparison the data that its pictures need.
ComparePart with_pictures(Comparison comparison, const Problem& problem, const Trace& trace);

/// Returns the page. `heading` names the trace; `timelines` are of real runs and come before the
/// machines; the total time is that of `every` phases; `data` is a JSON document that readers can
/// save.
std::string compare_page(const std::vector<ComparePart>& parts, const std::string& heading,
                         std::uint64_t every, const std::vector<Timeline>& timelines,
                         std::string_view data);

}  // namespace poise::apps
