// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/speed_groups.h"

#include <cstddef>
#include <utility>

namespace poise {

namespace {

constexpr std::size_t kMaxGroups = 32;

/// The different speeds in ascending order.
std::vector<double> speeds_of(const Machine& machine) {
  if (machine.has_equal_speeds()) return {machine.speed_of(0)};
  std::vector<double> speeds;
  for (const Place& place : machine.places()) speeds.push_back(place.speed);
  std::sort(speeds.begin(), speeds.end());
  speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
  return speeds;
}

SpeedGroup group_of(const Machine& machine, std::vector<PlaceId> places,
                    std::vector<double> busy_s) {
  const auto [slowest, fastest] = std::minmax_element(
      places.begin(), places.end(),
      [&](PlaceId a, PlaceId b) { return machine.speed_of(a) < machine.speed_of(b); });
  const double min_speed = machine.speed_of(*slowest), max_speed = machine.speed_of(*fastest);
  const bool is_dense = std::size_t{places.back()} + 1 == places.size();
  return {min_speed, max_speed, std::move(places), LeastBusy(std::move(busy_s)), is_dense};
}

}  // namespace

SpeedGroups::SpeedGroups(const Machine& machine, const std::vector<double>& busy_s)
    : group_of_(machine.num_places()), index_of_(machine.num_places()) {
  const std::vector<double> speeds = speeds_of(machine);
  const std::size_t num_groups = std::min(speeds.size(), kMaxGroups);
  std::vector<std::vector<PlaceId>> places(num_groups);
  std::vector<std::vector<double>> group_busy_s(num_groups);
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    const auto found = std::lower_bound(speeds.begin(), speeds.end(), machine.speed_of(p));
    const std::size_t rank = found - speeds.begin();
    const std::size_t group = rank * num_groups / speeds.size();
    group_of_[p] = group;
    index_of_[p] = places[group].size();
    places[group].push_back(p);
    group_busy_s[group].push_back(busy_s[p]);
  }
  for (std::size_t g = 0; g < num_groups; ++g)
    groups_.push_back(group_of(machine, std::move(places[g]), std::move(group_busy_s[g])));
}

}  // namespace poise
