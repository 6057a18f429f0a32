#include "poise/placement/first_to_finish.h"

#include <algorithm>
#include <utility>

namespace poise {

namespace {

constexpr std::size_t kMaxGroups = 32;

/// Different speeds, ascending.
std::vector<double> speeds_of(const Machine& machine) {
  if (machine.has_equal_speeds()) return {machine.speed_of(0)};
  std::vector<double> speeds;
  for (const Place& place : machine.places()) speeds.push_back(place.speed);
  std::sort(speeds.begin(), speeds.end());
  speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
  return speeds;
}

}  // namespace

FirstToFinish::FirstToFinish(const Machine& machine, const std::vector<double>& busy_s)
    : machine_(machine), group_of_(machine.num_places()), index_of_(machine.num_places()) {
  const std::vector<double> speeds = speeds_of(machine);
  const std::size_t num_groups = std::min(speeds.size(), kMaxGroups);
  std::vector<std::vector<PlaceId>> places(num_groups);
  std::vector<std::vector<double>> group_busy_s(num_groups);
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    const auto found = std::lower_bound(speeds.begin(), speeds.end(), machine.speed_of(p));
    const auto rank = static_cast<std::size_t>(found - speeds.begin());
    const std::size_t group = rank * num_groups / speeds.size();
    group_of_[p] = static_cast<std::uint32_t>(group);
    index_of_[p] = static_cast<PlaceId>(places[group].size());
    places[group].push_back(p);
    group_busy_s[group].push_back(busy_s[p]);
  }
  for (std::size_t g = 0; g < num_groups; ++g)
    groups_.push_back({std::move(places[g]), LeastBusy(std::move(group_busy_s[g]))});
}

PlaceId FirstToFinish::with(double load_s) const {
  if (groups_.size() == 1 && machine_.has_equal_speeds()) return groups_[0].busy.least();
  std::pair<double, PlaceId> best;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const PlaceId p = groups_[g].places[groups_[g].busy.least()];
    const std::pair candidate{busy_s(p) + load_s / machine_.speed_of(p), p};
    if (g == 0 || candidate < best) best = candidate;
  }
  return best.second;
}

}  // namespace poise
