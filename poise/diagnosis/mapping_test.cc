// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/mapping.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/map_cost.h"

namespace poise {
namespace {

Placement placed(std::vector<PlaceId> places) { return Placement(std::move(places)); }

Workload random_traffic(TaskId tasks, Random& random) {
  Workload traffic;
  traffic.tasks.assign(tasks, {.load_s = 1});
  for (TaskId t = 0; t < tasks; ++t)
    for (TaskId u = 0; u < tasks; ++u)
      if (t != u && random.below(3) == 0)
        traffic.messages.push_back({t, u, 1 + random.below(9), random.below(100000)});
  return traffic;
}

TEST(mapping, the_map_minimises_traffic_and_does_not_raise_the_cost_of_messages) {
  Random random(8);
  const Machine machine = machine_from_text("node:2 core:3");
  constexpr int starts = fewer_if_sanitized(50);
  int moved = 0;
  const auto traffic_of_map = [&](const Workload& traffic, const Placement& placement) {
    return map_cost(machine, traffic, placement, Distance::factors).traffic;
  };
  for (int i = 0; i < starts; ++i) {
    const Workload traffic = random_traffic(6, random);
    std::vector<PlaceId> places(6);
    std::iota(places.begin(), places.end(), 0u);
    const Placement start(places);
    const Placement found = mapped(machine, traffic, start);
    EXPECT_LE(message_cost(machine, traffic, found), message_cost(machine, traffic, start));
    double best = traffic_of_map(traffic, start);
    std::vector<bool> taken(6);
    for (const PlaceId p : found.places()) {
      EXPECT_FALSE(taken[p]);
      taken[p] = true;
    }
    if (found == start) continue;
    ++moved;
    do best = std::min(best, traffic_of_map(traffic, Placement(places)));
    while (std::next_permutation(places.begin(), places.end()));
    EXPECT_LE(traffic_of_map(traffic, found), best * (1 + 1e-9));
  }
  EXPECT_GE(moved, starts * 3 / 5) << "few of the random starts are the best";
}

TEST(mapping, ranks_may_move_to_free_places) {
  const Machine machine = machine_from_text("node:2 core:4");
  Workload traffic;
  traffic.tasks.assign(2, {.load_s = 1});
  traffic.messages = {{0, 1, 10, 1000}};
  const Placement found = mapped(machine, traffic, placed({0, 4}));
  EXPECT_NE(found.of(0), found.of(1));
  EXPECT_EQ(machine.node_of_place(found.of(0)), machine.node_of_place(found.of(1)));
}

TEST(mapping, the_map_minimises_bytes_times_hops_if_the_network_was_not_measured) {
  const Machine machine = machine_from_text("node:2 core:2 factors:1,1");
  Workload traffic;
  traffic.tasks.assign(4, {.load_s = 1});
  traffic.messages = {{0, 1, 1, 1000}, {2, 3, 1, 1000}};
  const Placement start = placed({0, 2, 1, 3}), found = mapped(machine, traffic, start);
  EXPECT_EQ(machine.node_of_place(found.of(0)), machine.node_of_place(found.of(1)));
  EXPECT_LT(message_cost(machine, traffic, found), 0.6 * message_cost(machine, traffic, start));
}

TEST(mapping, the_traffic_of_a_run_is_the_sum_over_its_phases) {
  Trace trace;
  EXPECT_TRUE(traffic_of(trace).tasks.empty());
  trace.phases.resize(3);
  trace.phases[0].workload.tasks = {{.load_s = 7, .bytes = 3}, {.load_s = 0}};
  trace.phases[0].workload.messages = {{1, 0, 2, 30}, {0, 1, 5, 700}};
  trace.phases[1].workload.messages = {{0, 1, 11, 1300}, {0, 1, 17, 190}};
  trace.phases[2].workload.tasks.resize(5);
  const Workload traffic = traffic_of(trace);
  ASSERT_EQ(traffic.num_tasks(), 2u);
  EXPECT_EQ(traffic.tasks[0].load_s, 1);
  EXPECT_EQ(traffic.tasks[0].bytes, 3u);
  EXPECT_EQ(traffic.tasks[1].load_s, 1);
  ASSERT_EQ(traffic.messages.size(), 2u);
  EXPECT_EQ(traffic.messages[0].from, 0u);
  EXPECT_EQ(traffic.messages[0].to, 1u);
  EXPECT_EQ(traffic.messages[0].count, 5u + 11 + 17);
  EXPECT_EQ(traffic.messages[0].bytes, 700u + 1300 + 190);
  EXPECT_EQ(traffic.messages[1].from, 1u);
  EXPECT_EQ(traffic.messages[1].count, 2u);
  EXPECT_EQ(traffic.messages[1].bytes, 30u);
}

TEST(mapping, the_message_cost_is_in_seconds_if_the_network_was_measured_and_otherwise_in_hops) {
  Random random(4);
  for (const char* text : {"node:3 core:2 factors:7,1", "node:3 core:2 factors:1,1", "core:6",
                           "torus:3x1 core:2 factors:1,1"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    const bool is_measured = std::string(text) != "node:3 core:2 factors:1,1";
    const Workload traffic = random_traffic(6, random);
    const Placement placement = placed({5, 3, 0, 1, 4, 2});
    const UnitCosts unit = unit_costs(machine, machine.costs());
    double expected = 0;
    for (const Message& m : traffic.messages) {
      const PlaceId from = placement.of(m.from), to = placement.of(m.to);
      expected += m.count * unit.message_s * machine.message_factor(from, to);
      expected += m.bytes * unit.byte_s * machine.byte_factor(from, to);
    }
    if (!is_measured) expected = map_cost(machine, traffic, placement, Distance::hops).traffic;
    EXPECT_NEAR(message_cost(machine, traffic, placement), expected, 1e-12 * expected);
  }
}

TEST(mapping, ranks_that_share_places_do_not_move) {
  const Machine machine = machine_from_text("node:2 core:1");
  Workload traffic;
  traffic.tasks.assign(3, {.load_s = 1});
  traffic.messages = {{0, 1, 10, 1000}};
  EXPECT_EQ(mapped(machine, traffic, placed({0, 1, 1})), placed({0, 1, 1}));
}

}  // namespace
}  // namespace poise
