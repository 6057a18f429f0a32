// SPDX-License-Identifier: BSD-3-Clause
// Flows that share resources: the input of both models of sharing (fluid.h, queues.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace poise {

/// A resource on a route, with the seconds for which one byte occupies it if nothing else uses it.
struct RouteStop {
  std::uint32_t resource = 0;
  double s_per_byte = 0;
};

/// Routes, each a sequence of resources in the order in which a message passes them.
class Routes {
 public:
  /// Adds a route and returns its index. Resources on which a byte takes 0 s have no effect and
  /// are left out; entries of the same resource are merged.
  std::uint32_t add(std::span<const RouteStop> stops);

  std::uint32_t count() const { return first_.size() - 1; }
  std::uint32_t num_resources() const { return num_resources_; }
  std::size_t num_stops() const { return stops_.size(); }
  std::span<const RouteStop> stops(std::uint32_t route) const {
    return std::span(stops_).subspan(first_[route], first_[route + 1] - first_[route]);
  }

 private:
  std::vector<std::size_t> first_{0};
  std::vector<RouteStop> stops_;
  std::uint32_t num_resources_ = 0;
};

/// Bytes that start to travel along a route at start_s, in `pieces` pieces of equal size.
struct Flow {
  double start_s = 0, bytes = 0;
  std::uint32_t route = 0;
  std::uint32_t pieces = 1;
};

/// Another route that a flow may take. The flow takes the detour if it is expected to be faster
/// there, given the bytes that are in flight when the flow starts.
struct Detour {
  static constexpr std::uint32_t kNone = ~0U;
  std::uint32_t route = kNone;
  double extra_s = 0;  // latency that the detour adds to that of the usual route
};

/// Sorts indices of flows by the time at which the flows start; ties: the lower index first.
void sort_by_start(std::span<const Flow> flows, std::vector<std::uint32_t>& numbers);

/// Seconds for which all flows together occupy the busiest resource. No schedule can end earlier.
double busiest_s(const Routes& routes, std::span<const Flow> flows);

}  // namespace poise
