// SPDX-License-Identifier: BSD-3-Clause
// Builds the page of `poise compare --html`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/comparison.h"
#include "apps/analysis/inputs.h"
#include "apps/analysis/traffic.h"
#include "apps/report/curve_table.h"
#include "apps/report/phase_pictures.h"

#include "poise/trace/timeline.h"

namespace poise::apps {

/// The part of the page for one machine: the comparison, and the data of the two placements that
/// are drawn.
struct ComparePart {
  Comparison comparison;
  PlaceTimes times_before, times_after;  // the times with the current placement, and with the best
                                         // one
  Traffic traffic_before, traffic_after;
  Moves moves;
  std::vector<RecordedPhase> phases;  // see recorded_phases()
  std::vector<CurvePoint> curve;      // starts at the best placement; empty if the page shows none
};

/// Returns the comparison together with the data that the pictures of the comparison show.
ComparePart with_pictures(Comparison comparison, const Problem& problem, const Trace& trace,
                          std::vector<CurvePoint> curve);

/// Returns the page. `heading` names the trace. `timelines` come from real runs and are shown
/// before the machines. Total times on the page cover one decision, its migrations, and the `every`
/// iterations until the next decision. `data` is a JSON document that readers can save.
std::string compare_page(const std::vector<ComparePart>& parts, const std::string& heading,
                         std::uint64_t every, const std::vector<Timeline>& timelines,
                         std::string_view data);

}  // namespace poise::apps
