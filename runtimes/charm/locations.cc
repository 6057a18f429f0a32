// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/charm/locations.h"

#include <algorithm>
#include <utility>

namespace poise::charm {

std::vector<Location> locations_to_tell(const balance::MeasuredPhase& phase,
                                        const std::vector<std::uint32_t>& row_of_task,
                                        const Placement& placement, const PeMap& pe_map) {
  std::vector<Location> locations;
  const auto moves = [&](TaskId t) { return placement.of(t) != phase.current.of(t); };
  for (const Message& message : phase.workload.messages)
    if (message.to < row_of_task.size() && placement.of(message.from) != placement.of(message.to) &&
        (moves(message.from) || moves(message.to)))
      locations.push_back(
          {static_cast<std::int32_t>(pe_map.pe_of_place[placement.of(message.from)]),
           row_of_task[message.to]});
  const auto key = [](const Location& location) {
    return std::pair(location.sender_pe, location.object);
  };
  std::ranges::sort(locations, {}, key);
  const auto again = std::ranges::unique(locations, {}, key);
  locations.erase(again.begin(), again.end());
  return locations;
}

}  // namespace poise::charm
