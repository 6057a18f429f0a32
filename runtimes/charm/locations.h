// SPDX-License-Identifier: BSD-3-Clause
// Tells the senders of messages where the receivers are after a decision.
#pragma once

#include <vector>

#include "runtimes/charm/balancer.h"
#include "runtimes/charm/convert.h"

namespace poise::charm {

/// A decision of a balancer, with the converted statistics from which it was made.
struct Decided {
  const Statistics& statistics;
  const std::vector<std::uint32_t>& row_of_task;
  const Placement& placement;
  const PeMap& pe_map;
  const std::vector<std::int32_t>& pe_of_object;  // by row
};

/// Returns which PEs must be told the locations of which objects after the decision. A PE that
/// sends messages to an object on another PE must be told if the object or the sender moves. It
/// must also be told if the messages were sent to a PE that did not have the object (a Detour).
/// Each pair of PE and object is listed once, sorted by PE. O(m log m) for m messages.
std::vector<Location> locations_to_tell(const std::vector<Message>& messages,
                                        const std::vector<Detour>& detours, const Decided& decided);

/// Returns questions that ask where the receivers of `messages` are: one for each object and each
/// PE that sends messages to it, in ascending order of objects. O(m log m) for m messages.
std::vector<Question> questions_to_ask(const std::vector<OutsideMessage>& messages,
                                       const Decided& decided);

}  // namespace poise::charm
