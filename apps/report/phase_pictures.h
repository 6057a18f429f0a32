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

/// Returns the phases of a trace, or if there are more than 24, as many at equal distances. Returns
/// none if the trace has a single phase, or was not recorded on as many places as the machine has.
std::vector<RecordedPhase> recorded_phases(const Trace& trace, const Machine& machine,
                                           const CostModel& costs);

/// Returns a part of the page, or nothing if there are no phases.
std::string phases_html(const std::vector<RecordedPhase>& phases);

}  // namespace poise::apps
