// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/flows.h"

#include <algorithm>

namespace poise {

std::uint32_t Routes::add(std::span<const RouteStop> stops) {
  for (const RouteStop& stop : stops) {
    if (stop.s_per_byte <= 0) continue;
    const auto begin = stops_.begin() + first_.back();
    const auto known = std::find_if(
        begin, stops_.end(), [&](const RouteStop& s) { return s.resource == stop.resource; });
    if (known == stops_.end())
      stops_.push_back(stop);
    else
      known->s_per_byte += stop.s_per_byte;
    num_resources_ = std::max(num_resources_, stop.resource + 1);
  }
  first_.push_back(stops_.size());
  return count() - 1;
}

void sort_by_start(std::span<const Flow> flows, std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    return flows[a].start_s != flows[b].start_s ? flows[a].start_s < flows[b].start_s : a < b;
  });
}

double busiest_s(const Routes& routes, std::span<const Flow> flows) {
  std::vector<double> occupied_s(routes.num_resources(), 0);
  for (const Flow& flow : flows)
    for (const RouteStop& stop : routes.stops(flow.route))
      occupied_s[stop.resource] += flow.bytes * stop.s_per_byte;
  return occupied_s.empty() ? 0 : *std::max_element(occupied_s.begin(), occupied_s.end());
}

}  // namespace poise
