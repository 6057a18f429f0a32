// SPDX-License-Identifier: BSD-3-Clause
/// Orb: recursive coordinate bisection. Each place gets a box of space that contains its share of
/// the work.
///
/// Berger and Bokhari, "A partitioning strategy for nonuniform problems on multiprocessors", 1987;
/// Charm++'s Orb3dLB. Each cut is across the longest side of the box and splits the places at the
/// machine's levels: nodes first, then domains, and so on. The share of a place depends on its
/// speed and on the work that is fixed there. Neighbours in space are placed close to each other;
/// messages and the current placement are ignored. Among tasks at equal positions, the one with the
/// lower id comes first. O(n log p) for n tasks and p places.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "poise/base/error.h"
#include "poise/placement/fair_shares.h"
#include "poise/strategies/strategy.h"

namespace poise {

namespace {

/// The sum to which task weights are scaled. Weights are integers, so that sums do not depend on
/// the order in which std::nth_element leaves the items.
constexpr double kTotalWeight = 0x1p52;

struct Item {
  std::array<double, 3> position;
  std::uint64_t weight;
  TaskId task;
};

double sum_of(std::span<const Item> items) {
  std::uint64_t sum = 0;
  for (const Item& item : items) sum += item.weight;
  return sum;
}

std::vector<Item> movable_items(const Workload& workload) {
  std::vector<Item> items;
  double total_s = 0;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    for (const double x : workload.positions[t])
      if (!std::isfinite(x))
        fail("strategy orb: task {} has the coordinate {}; it must be finite", t, x);
    if (!workload.tasks[t].movable) continue;
    items.push_back({workload.positions[t], 1, t});
    total_s += workload.tasks[t].load_s;
  }
  if (total_s > 0)
    for (Item& item : items)
      item.weight =
          static_cast<std::uint64_t>(workload.tasks[item.task].load_s / total_s * kTotalWeight);
  return items;
}

/// The axis along which the items extend farthest. If several axes are equally long, the first of
/// them.
std::size_t longest_axis(std::span<const Item> items) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::array<double, 3> low, high;
  low.fill(kInfinity);
  high.fill(-kInfinity);
  for (const Item& item : items)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], item.position[axis]);
      high[axis] = std::max(high[axis], item.position[axis]);
    }
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < 3; ++axis)
    if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
  return longest;
}

/// Divides the items by a plane perpendicular to the axis: moves the items below the plane to the
/// front and returns their number. The plane is chosen such that the weight of these items is as
/// close to `wanted` as possible. O(items): each step halves the range of items that the next step
/// examines.
std::size_t cut(std::span<Item> items, std::size_t axis, double wanted) {
  const auto is_below = [axis](const Item& a, const Item& b) {
    if (a.position[axis] != b.position[axis]) return a.position[axis] < b.position[axis];
    return a.task < b.task;
  };
  std::size_t begin = 0, end = items.size();
  double before = 0;
  while (end - begin > 1) {
    const std::size_t middle = begin + (end - begin) / 2;
    std::nth_element(items.begin() + begin, items.begin() + middle, items.begin() + end, is_below);
    const double half = sum_of(items.subspan(begin, middle - begin));
    if (before + half <= wanted) {
      before += half;
      begin = middle;
    } else {
      end = middle;
    }
  }
  const bool last_belongs_below = begin < end && before + items[begin].weight / 2.0 <= wanted;
  return begin + last_belongs_below;
}

/// Returns the place at which to divide the range of places: the first place of the middle group on
/// the coarsest level that has several groups in the range.
PlaceId middle_of(const Machine& machine, PlaceId first, PlaceId last) {
  std::size_t level = 0;
  while (machine.group_of(level, first) == machine.group_of(level, last - 1)) ++level;
  const std::uint32_t left = machine.group_of(level, first),
                      right = machine.group_of(level, last - 1);
  return machine.levels()[level].first_place[left + (right - left + 1) / 2];
}

struct Bisection {
  const Machine& machine;
  std::vector<double> share_before;  // per place: the sum of the shares of all places before it
  Placement& placement;

  void place(std::span<Item> items, PlaceId first, PlaceId last) {
    if (items.empty()) return;
    if (last - first == 1) {
      for (const Item& item : items) placement.move(item.task, first);
      return;
    }
    const PlaceId middle = middle_of(machine, first, last);
    const double both = share_before[last] - share_before[first];
    const double left = share_before[middle] - share_before[first];
    const double wanted = both > 0 ? sum_of(items) * (left / both) : 0;
    const std::size_t below = cut(items, longest_axis(items), wanted);
    place(items.first(below), first, middle);
    place(items.subspan(below), middle, last);
  }
};

}  // namespace

Placement orb(const Problem& problem, const Knobs&) {
  if (problem.workload.positions.empty())
    fail(
        "strategy orb: the tasks have no positions; use metis or scotch, which need only messages");
  Placement placement = problem.current;
  std::vector<Item> items = movable_items(problem.workload);
  const std::vector<double> shares =
      fair_shares(problem.machine, problem.workload, problem.current);
  Bisection bisection{problem.machine, std::vector<double>(shares.size() + 1, 0), placement};
  std::partial_sum(shares.begin(), shares.end(), bisection.share_before.begin() + 1);
  bisection.place(items, 0, problem.machine.num_places());
  return placement;
}

}  // namespace poise
