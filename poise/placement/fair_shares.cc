// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/fair_shares.h"

#include <algorithm>
#include <numeric>

#include "poise/placement/metrics.h"

namespace poise {

namespace {

/// Distributes the work like water: the least busy places get work first, until all places that
/// have got some are equally busy. Returns the busy time of these places.
double water_level_s(const Machine& machine, const std::vector<double>& ground_s, double water_s) {
  std::vector<PlaceId> deepest_first(machine.num_places());
  std::iota(deepest_first.begin(), deepest_first.end(), 0);
  std::stable_sort(deepest_first.begin(), deepest_first.end(),
                   [&](PlaceId a, PlaceId b) { return ground_s[a] < ground_s[b]; });
  double width = 0, volume_s = water_s, level_s = 0;
  for (const PlaceId p : deepest_first) {
    if (width > 0 && level_s <= ground_s[p]) break;
    width += machine.speed_of(p);
    volume_s += machine.speed_of(p) * ground_s[p];
    level_s = volume_s / width;
  }
  return level_s;
}

}  // namespace

std::vector<double> fair_shares(const Machine& machine, const Workload& workload,
                                const Placement& current) {
  double movable_s = 0;
  for (const Task& task : workload.tasks)
    if (task.movable) movable_s += task.load_s;
  std::vector<double> shares(machine.num_places());
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    shares[p] = machine.speed_of(p) / machine.total_speed();
  if (!(movable_s > 0)) return shares;  // there is no work to share

  const std::vector<double> ground_s = fixed_work_s(machine, workload, current);
  const double level_s = water_level_s(machine, ground_s, movable_s);
  double sum = 0;
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    shares[p] = std::max(0.0, level_s - ground_s[p]) * machine.speed_of(p) / movable_s;
    sum += shares[p];
  }
  // If fixed work is so large that adding the movable work is lost in rounding, the least busy
  // place gets all movable work.
  if (!(sum > 0)) {
    const auto deepest = std::min_element(ground_s.begin(), ground_s.end());
    shares[deepest - ground_s.begin()] = sum = 1;
  }
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace poise
