// SPDX-License-Identifier: BSD-3-Clause
// Tells the senders of messages where the receivers are after a decision.
#pragma once

#include <vector>

#include "runtimes/charm/balancer.h"
#include "runtimes/charm/convert.h"

namespace poise::charm {

/// Returns which PEs must be told the location of which objects after the decision: each PE that
/// sends messages to an object on another PE, if the object or its sender moves. Each pair is
/// listed once, sorted by PE. `pe_map` must be that of the job. O(m log m) for m messages.
std::vector<Location> locations_to_tell(const balance::MeasuredPhase& phase,
                                        const std::vector<std::uint32_t>& row_of_task,
                                        const Placement& placement, const PeMap& pe_map);

}  // namespace poise::charm
