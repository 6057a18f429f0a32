// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/renaming.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;

Placement at(std::vector<PlaceId> places) { return Placement(std::move(places)); }

Workload with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({load_s});
  return workload;
}

TEST(Renaming, numbers_the_parts_of_a_partition_so_that_most_load_stays_on_its_place) {
  const std::vector<double> shares(3, 1.0 / 3);
  const Placement renamed = renamed_to_stay(flat_machine(3), with_loads({5, 1, 2, 3, 1}),
                                            at({0, 1, 1, 2, 0}), at({2, 0, 0, 1, 0}), shares);
  EXPECT_THAT(renamed.places(), ElementsAre(0, 1, 1, 2, 1));
}

TEST(Renaming, tasks_that_share_a_node_still_share_a_node_after_places_are_renamed) {
  // Part p holds the tasks that the new partition gives to place p. Parts 0 and 1 are on node 0 of
  // the new partition, so they must stay on one node. Now 6 s of their load are on node 1 and only
  // 4 s on node 0. So both parts go to node 1, although part 1 alone would stay on node 0.
  const std::vector<double> shares(4, 0.25);
  const Placement renamed =
      renamed_to_stay(machine_from_text("node:2 core:2"), with_loads({5, 1, 4, 4}),
                      at({2, 3, 0, 1}), at({0, 1, 1, 3}), shares);
  EXPECT_THAT(renamed.places(), ElementsAre(2, 3, 3, 1));
}

TEST(Renaming, never_swaps_the_places_of_two_parts_of_different_size) {
  const std::vector<double> shares{0.5, 0.25, 0.25};
  const Placement renamed =
      renamed_to_stay(flat_machine(3), with_loads({2, 1, 1}), at({1, 0, 0}), at({0, 1, 2}), shares);
  EXPECT_THAT(renamed.places(), ElementsAre(0, 1, 2));
}

TEST(Renaming, leaves_pinned_tasks_on_their_places) {
  Workload workload = with_loads({9, 1, 1});
  workload.tasks[0].movable = false;
  const Placement renamed = renamed_to_stay(flat_machine(2), workload, at({0, 0, 1}), at({0, 1, 0}),
                                            std::vector<double>{0.5, 0.5});
  EXPECT_THAT(renamed.places(), ElementsAre(0, 0, 1));
}

TEST(Renaming, changes_nothing_if_the_new_partition_is_the_current_one) {
  const Placement current = at({2, 1, 1, 0, 3});
  EXPECT_EQ(renamed_to_stay(flat_machine(5), with_loads({1, 0, 2, 3, 0}), current, current,
                            std::vector<double>(5, 0.2)),
            current);
}

/// The renaming of units (nodes, groups or places) described in renaming.h, with loads in a full
/// matrix. Two units are equal if they are of the same kind and their shares differ by at most 1 %.
std::vector<std::size_t> naive_renaming(const std::vector<std::size_t>& kinds,
                                        const std::vector<double>& shares,
                                        const std::vector<std::size_t>& unit_of_place,
                                        const Workload& workload, const Placement& current,
                                        const Placement& placement) {
  const std::size_t count = kinds.size(), none = count;
  std::vector<std::vector<double>> loads_s(count, std::vector<double>(count, -1));
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    if (!workload.tasks[t].movable) continue;
    double& load_s = loads_s[unit_of_place[placement.of(t)]][unit_of_place[current.of(t)]];
    load_s = std::max(load_s, 0.0) + workload.tasks[t].load_s;
  }
  std::vector<std::size_t> unit_of(count, none), part_of(count, none);
  for (;;) {  // takes the part and the unit with the most load in common, and pairs them
    std::size_t best_part = none, best_unit = none;
    double most_s = -0.5;
    for (std::size_t part = 0; part < count; ++part)
      for (std::size_t unit = 0; unit < count; ++unit) {
        const bool is_equal =
            kinds[part] == kinds[unit] &&
            std::abs(shares[part] - shares[unit]) <= 0.01 * std::max(shares[part], shares[unit]);
        if (!is_equal || unit_of[part] != none || part_of[unit] != none) continue;
        if (loads_s[part][unit] > most_s) {
          most_s = loads_s[part][unit];
          best_part = part, best_unit = unit;
        }
      }
    if (best_part == none) break;
    unit_of[best_part] = best_unit;
    part_of[best_unit] = best_part;
  }
  for (std::size_t u = 0; u < count; ++u)
    if (unit_of[u] == none && part_of[u] == none) unit_of[u] = part_of[u] = u;
  std::vector<std::size_t> parts, units;
  for (std::size_t u = 0; u < count; ++u) {
    if (unit_of[u] == none) parts.push_back(u);
    if (part_of[u] == none) units.push_back(u);
  }
  const auto is_before = [&](std::size_t a, std::size_t b) {
    return kinds[a] != kinds[b] ? kinds[a] < kinds[b] : shares[a] > shares[b];
  };
  std::stable_sort(parts.begin(), parts.end(), is_before);
  std::stable_sort(units.begin(), units.end(), is_before);
  for (std::size_t i = 0; i < parts.size(); ++i) unit_of[parts[i]] = units[i];
  return unit_of;
}

/// Renames groups of places, each of which is a range that begins at an entry of `first_place`; see
/// naive_renaming().
Placement with_ranges_renamed(const std::vector<PlaceId>& first_place,
                              const std::vector<std::size_t>& kinds,
                              const std::vector<double>& shares, const Workload& workload,
                              const Placement& current, const Placement& placement) {
  std::vector<std::size_t> unit_of_place;
  std::vector<double> sums;
  for (std::size_t g = 0; g + 1 < first_place.size(); ++g) {
    sums.push_back(0);
    for (PlaceId p = first_place[g]; p < first_place[g + 1]; ++p) {
      unit_of_place.push_back(g);
      sums.back() += shares[p];
    }
  }
  const std::vector<std::size_t> renamed =
      naive_renaming(kinds, sums, unit_of_place, workload, current, placement);
  Placement result = placement;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    if (!workload.tasks[t].movable) continue;
    const PlaceId p = placement.of(t);
    const std::size_t old_unit = unit_of_place[p];
    result.move(t, first_place[renamed[old_unit]] + (p - first_place[old_unit]));
  }
  return result;
}

TEST(Renaming, agrees_with_a_simple_search_for_the_largest_common_load_on_uneven_machines) {
  Random random(3);
  int num_renamed = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    MachineParts parts = machine_from_text("node:4 numa:1 l3:2 core:3").parts();
    if (round % 2 == 0) {  // nodes of 8, 4, 8 and 4 places; caches of 4, 2, 2 ... places
      const std::vector<PlaceId> nodes{0, 8, 12, 20, 24};
      parts.levels[0].first_place = parts.levels[1].first_place = nodes;
      parts.levels[2].first_place = {0, 4, 6, 8, 10, 12, 14, 16, 20, 22, 24};
      for (PlaceId p = 0; p < 24; ++p)
        parts.places[p].domain = p < 8 ? 0 : p < 12 ? 1 : p < 20 ? 2 : 3;
    }
    const Machine machine(parts);
    Workload workload;
    Placement current(60), placement(60);
    for (TaskId t = 0; t < 60; ++t) {
      workload.tasks.push_back({.load_s = random.below(3) == 0
                                              ? 0.25 * static_cast<double>(random.below(3))
                                              : random.uniform(),
                                .movable = random.below(10) != 0});
      current.move(t, static_cast<PlaceId>(random.below(24)));
      placement.move(t, static_cast<PlaceId>(random.below(24)));
    }
    std::vector<double> shares(24, 1.0 / 24);
    for (double& share : shares)
      if (round % 3 != 0) share *= random.below(3) == 0 ? 2 : random.uniform(1, 1.015);
    const auto kinds_of = [&](std::size_t level) {
      std::vector<std::size_t> kinds;
      std::map<std::pair<std::size_t, std::size_t>, std::size_t> numbers;
      const std::vector<PlaceId>& first = machine.levels()[level].first_place;
      for (std::size_t g = 0; g + 1 < first.size(); ++g) {
        const std::size_t parent = level == 0 ? 0 : machine.group_of(level - 1, first[g]);
        const std::size_t size = first[g + 1] - first[g];
        kinds.push_back(numbers.try_emplace({parent, size}, numbers.size()).first->second);
      }
      return kinds;
    };
    for (std::size_t level = 0; level < 4; ++level) {
      const Placement expected =
          with_ranges_renamed(machine.levels()[level].first_place, kinds_of(level), shares,
                              workload, current, placement);
      EXPECT_EQ(renamed_in_level(machine, workload, current, placement, shares, level), expected)
          << "level " << level;
      num_renamed += expected != placement;
    }
    std::vector<std::size_t> sizes, nodes;
    for (NodeId n = 0; n < 4; ++n)
      sizes.push_back(machine.levels()[0].first_place[n + 1] - machine.levels()[0].first_place[n]);
    for (PlaceId p = 0; p < 24; ++p) nodes.push_back(machine.node_of_place(p));
    Placement expected = with_ranges_renamed(machine.levels()[0].first_place, sizes, shares,
                                             workload, current, placement);
    expected = with_ranges_renamed(machine.levels()[3].first_place, nodes, shares, workload,
                                   current, expected);
    EXPECT_EQ(renamed_to_stay(machine, workload, current, placement, shares), expected);
  }
  EXPECT_GT(num_renamed, 500);
}

}  // namespace
}  // namespace poise
