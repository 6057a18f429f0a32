// SPDX-License-Identifier: BSD-3-Clause
// Tells the senders of messages where the receivers are after a decision.
#pragma once

#include <vector>

#include "runtimes/charm/balancer.h"
#include "runtimes/charm/convert.h"

namespace poise::charm {

/// Returns the objects that receive messages from another PE after the decision, if the object or
/// the sender moves: each once per such PE, in ascending order. `pe_map` must be that of the job.
/// O(m log m) for m messages.
std::vector<Location> locations_to_tell(const balance::MeasuredPhase& phase,
                                        const std::vector<std::uint32_t>& row_of_task,
                                        const Placement& placement, const PeMap& pe_map);

}  // namespace poise::charm
