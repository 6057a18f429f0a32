// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/charm/locations.h"

#include <algorithm>

namespace poise::charm {

std::vector<Location> locations_to_tell(const balance::MeasuredPhase& phase,
                                        const std::vector<std::uint32_t>& row_of_task,
                                        const Placement& placement, const Statistics& statistics,
                                        const PeMap& pe_map) {
  struct Pair {
    PlaceId sender_place;
    TaskId receiver;
    auto operator<=>(const Pair&) const = default;
  };
  std::vector<Pair> pairs;
  const auto moves = [&](TaskId t) { return placement.of(t) != phase.current.of(t); };
  for (const Message& message : phase.workload.messages)
    if (message.to < row_of_task.size() && placement.of(message.from) != placement.of(message.to) &&
        (moves(message.from) || moves(message.to)))
      pairs.push_back({placement.of(message.from), message.to});
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());

  const auto pe_of = [&](PlaceId place) {
    return static_cast<std::int32_t>(pe_map.pe_of_place[place]);
  };
  std::vector<Location> locations;
  locations.reserve(pairs.size());
  for (const auto [sender_place, receiver] : pairs)
    locations.push_back({statistics.object(row_of_task[receiver]).name,
                         pe_of(placement.of(receiver)), pe_of(sender_place)});
  return locations;
}

}  // namespace poise::charm
