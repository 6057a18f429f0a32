// SPDX-License-Identifier: BSD-3-Clause
// Small pictures of every recorded phase, side by side: how the load changed while the program ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poise/placement/metrics.h"
#include "poise/trace/trace.h"

namespace poise::apps {

/// The busy time of every place in one phase, as it was recorded.
struct RecordedPhase {
  std::uint64_t id = 0;
  PlaceTimes times;
};

/// Returns the phases of a trace that the page draws: all phases or, if there are more than 24, 24
/// equally spaced ones. Returns none if the trace has a single phase, if one of the phases to be
/// drawn has no placement, or if the trace and the machine have different numbers of places.
std::vector<RecordedPhase> recorded_phases(const Trace& trace, const Machine& machine,
                                           const CostModel& costs);

/// Returns the section of the HTML page that shows `phases`, or an empty text if there are no
/// phases.
std::string phases_html(const std::vector<RecordedPhase>& phases);

}  // namespace poise::apps
