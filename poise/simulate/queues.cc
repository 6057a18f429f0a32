// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/queues.h"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace poise {

namespace {

/// The arrival of the first piece of a flow at a resource of its route.
struct Arrival {
  double at_s;
  std::uint32_t flow, stop;
  bool operator>(const Arrival& other) const {
    return at_s != other.at_s ? at_s > other.at_s : flow > other.flow;
  }
};

/// Returns the seconds that a flow needs on a route: for each resource, the time until the resource
/// has served earlier flows, plus the time to serve this flow. `free_s` holds for each resource the
/// time at which it will be free.
double passing_s(const Routes& routes, const Flow& flow, std::uint32_t route,
                 std::span<const double> free_s) {
  double seconds = 0;
  for (const RouteStop& stop : routes.stops(route))
    seconds += std::max(0.0, free_s[stop.resource] - flow.start_s) + flow.bytes * stop.s_per_byte;
  return seconds;
}

}  // namespace

std::vector<double> queue_ends_s(const Routes& routes, std::span<const Flow> flows,
                                 std::span<const Detour> detours) {
  std::vector<double> end_s(flows.size()), free_s(routes.num_resources(), 0);
  std::vector<bool> takes_detour(detours.size(), false);
  std::vector<std::uint32_t> starts;
  for (std::uint32_t f = 0; f < flows.size(); ++f) {
    end_s[f] = flows[f].start_s;
    if (flows[f].bytes > 0 && !routes.stops(flows[f].route).empty()) starts.push_back(f);
  }
  sort_by_start(flows, starts);
  std::size_t next = 0;  // in starts
  // Arrivals at the second and later resources of routes: a heap, which stays small.
  std::vector<Arrival> arrivals;
  const auto take = [&] {
    if (next < starts.size()) {
      const Arrival start{flows[starts[next]].start_s, starts[next], 0};
      if (arrivals.empty() || arrivals.front() > start) {
        ++next;
        return start;
      }
    }
    std::pop_heap(arrivals.begin(), arrivals.end(), std::greater<>());
    const Arrival arrival = arrivals.back();
    arrivals.pop_back();
    return arrival;
  };
  while (next < starts.size() || !arrivals.empty()) {
    const Arrival arrival = take();
    const Flow& flow = flows[arrival.flow];
    const Detour detour = detours.empty() ? Detour() : detours[arrival.flow];
    if (detour.route != Detour::kNone && arrival.stop == 0)
      takes_detour[arrival.flow] = passing_s(routes, flow, detour.route, free_s) <
                                   passing_s(routes, flow, flow.route, free_s);
    const bool is_detour = detour.route != Detour::kNone && takes_detour[arrival.flow];
    const auto stops = routes.stops(is_detour ? detour.route : flow.route);
    const RouteStop& stop = stops[arrival.stop];
    const double served_s = flow.bytes * stop.s_per_byte, piece_s = served_s / flow.pieces;
    const double start_s = std::max(arrival.at_s, free_s[stop.resource]);
    free_s[stop.resource] = start_s + served_s;
    // The last piece cannot be served before it has left the previous resource.
    end_s[arrival.flow] = std::max(start_s + served_s, end_s[arrival.flow] + piece_s);
    if (arrival.stop + 1 == stops.size()) {
      if (is_detour) end_s[arrival.flow] += detour.extra_s;
      continue;
    }
    arrivals.push_back({start_s + piece_s, arrival.flow, arrival.stop + 1});
    std::push_heap(arrivals.begin(), arrivals.end(), std::greater<>());
  }
  return end_s;
}

}  // namespace poise
