// SPDX-License-Identifier: BSD-3-Clause
// Tells the senders of messages where the receivers are after a decision.
#pragma once

#include <vector>

#include "runtimes/charm/balancer.h"
#include "runtimes/charm/convert.h"

namespace poise::charm {

/// Returns the objects that receive messages from another PE after the decision, if the object or
/// the sender moves: each once per such PE. Those with the same sender_pe follow each other.
/// `statistics.pes` must be the PEs of the job. O(m log m) for m messages.
std::vector<Location> locations_to_tell(const balance::MeasuredPhase& phase,
                                        const std::vector<std::uint32_t>& row_of_task,
                                        const Placement& placement, const Statistics& statistics,
                                        const PeMap& pe_map);

}  // namespace poise::charm
