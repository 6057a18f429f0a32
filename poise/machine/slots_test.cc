// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/slots.h"

#include <gtest/gtest.h>
#include <vector>

#include "tests/support/random_problem.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/find.h"
#include "poise/machine/json.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

/// Checks that the machine made of these places has the same speeds, factors and so on as these
/// places have in the whole machine.
void expect_same_answers(const Machine& machine, const std::vector<PlaceId>& places) {
  const Machine slots = slots_of(machine, places);
  ASSERT_EQ(slots.num_places(), places.size());
  for (PlaceId a = 0; a < places.size(); ++a) {
    EXPECT_EQ(slots.speed_of(a), machine.speed_of(places[a]));
    for (PlaceId b = 0; b < places.size(); ++b) {
      if (places[a] == places[b]) continue;
      EXPECT_EQ(slots.message_factor(a, b), machine.message_factor(places[a], places[b]));
      EXPECT_EQ(slots.byte_factor(a, b), machine.byte_factor(places[a], places[b]));
      EXPECT_EQ(slots.hops(a, b), machine.hops(places[a], places[b]));
      EXPECT_EQ(slots.common_level(a, b), machine.common_level(places[a], places[b]));
    }
  }
}

TEST(Slots, a_machine_of_selected_places_keeps_the_message_costs_between_them) {
  expect_same_answers(machine_from_text("node:3 numa:2 core:4 factors:10,1.5,1"),
                      {0, 1, 5, 8, 12, 15, 16, 23});
  expect_same_answers(find_machine("NUMA48"), {1, 2, 9, 30, 31, 47});
  expect_same_answers(find_machine("NUMA32"), {31});
}

TEST(Slots, selecting_all_places_gives_the_same_machine) {
  const Machine machine = machine_from_text("node:2 numa:2 core:2 factors:10,1.5,1");
  expect_same_answers(machine, {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(Slots, places_of_a_single_node_form_a_machine_without_a_network) {
  const Machine machine = find_machine("20xNUMA4");
  const Machine node = slots_of(machine, std::vector<PlaceId>{8, 9, 10, 11});
  EXPECT_EQ(node.num_nodes(), 1u);
  EXPECT_EQ(node.message_factor(0, 3), machine.message_factor(8, 11));
  EXPECT_EQ(node.message_factor(1, 0), machine.message_factor(9, 8));
}

TEST(Slots, a_place_listed_several_times_becomes_several_places) {
  const Machine machine = machine_from_text("node:2 core:2 factors:10,2");
  const Machine slots = slots_of(machine, std::vector<PlaceId>{0, 0, 1, 2, 3, 3});
  ASSERT_EQ(slots.num_places(), 6u);
  EXPECT_EQ(slots.levels().back().name, "slot");
  EXPECT_EQ(slots.common_level(0, 1), 1);
  EXPECT_EQ(slots.message_factor(0, 1), 1);
  EXPECT_EQ(slots.message_factor(0, 2), 2);
  EXPECT_EQ(slots.message_factor(0, 3), 10);
  EXPECT_EQ(machine_to_json(machine_from_json(machine_to_json(slots), "slots")),
            machine_to_json(slots));
}

TEST(Slots, throws_for_an_invalid_list_of_places) {
  const Machine machine = machine_from_text("node:3 core:2");
  for (const std::vector<PlaceId>& places : {std::vector<PlaceId>{}, {0, 6}, {2, 1}, {0, 2}})
    EXPECT_THROW(slots_of(machine, places), Error);
}

TEST(Slots, randomly_selected_places_of_any_machine_keep_the_costs_between_them) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    const Machine machine = random_machine(random);
    std::vector<PlaceId> places;
    const bool is_one_node = random.below(2) == 0;
    const auto node = static_cast<NodeId>(random.below(machine.num_nodes()));
    for (NodeId n = 0; n < machine.num_nodes(); ++n) {
      if (is_one_node && n != node) continue;
      const PlaceId first = machine.first_place(machine.first_domain(n));
      const PlaceId end = machine.first_place(machine.first_domain(n + 1));
      const PlaceId always = first + static_cast<PlaceId>(random.below(end - first));
      for (PlaceId p = first; p < end; ++p)
        if (p == always || random.below(2) == 0) places.push_back(p);
    }
    expect_same_answers(machine, places);
  }
}

TEST(Slots, keeps_the_facts_and_node_kinds_of_the_selected_places_and_domains) {
  MachineParts parts = machine_from_text("node:2 numa:3 core:2").parts();
  parts.facts.threads = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  parts.facts.numa_index = {5, 4, 3, 2, 1, 0};
  parts.facts.memory_bytes = {10, 20, 30, 40, 50, 60};
  parts.node_kinds.push_back(parts.node_kinds[0]);
  parts.node_kinds[1].latency_factor = {1, 2, 3, 4, 1, 5, 6, 7, 1};
  parts.node_kinds[1].bandwidth_factor = {1, 1.5, 2.5, 3.5, 1, 4.5, 5.5, 6.5, 1};
  parts.kind_of_node = {0, 1};
  for (PlaceId p = 0; p < 12; ++p) parts.places[p].os_index = 100 + p;
  const Machine slots = slots_of(Machine(parts), std::vector<PlaceId>{3, 4, 5, 7, 10, 11});
  EXPECT_EQ(slots.parts().facts.threads, (std::vector<std::uint32_t>{4, 5, 6, 8, 11, 12}));
  EXPECT_EQ(slots.parts().facts.numa_index, (std::vector<std::uint32_t>{4, 3, 2, 0}));
  EXPECT_EQ(slots.parts().facts.memory_bytes, (std::vector<std::uint64_t>{20, 30, 40, 60}));
  EXPECT_EQ(slots.latency_factor(2, 3), 3);
  EXPECT_EQ(slots.latency_factor(3, 2), 6);
  EXPECT_EQ(slots.bandwidth_factor(2, 3), 2.5);
  EXPECT_EQ(slots.bandwidth_factor(3, 2), 5.5);
  EXPECT_EQ(slots.levels()[0].first_place, (std::vector<PlaceId>{0, 3, 6}));
  EXPECT_EQ(slots.levels()[1].first_place, (std::vector<PlaceId>{0, 1, 3, 4, 6}));
  ASSERT_EQ(slots.levels().size(), 3u) << "no place is repeated";
  for (PlaceId p = 0; p < 6; ++p)
    EXPECT_EQ(slots.place(p).os_index, 99 + slots.parts().facts.threads[p]);
  EXPECT_EQ(slots.network().factor, 10);
}

TEST(Slots, a_machine_of_one_node_has_the_default_network) {
  const Machine machine = machine_from_text("node:3 core:2 factors:7,1");
  EXPECT_EQ(slots_of(machine, std::vector<PlaceId>{2, 3}).network().factor, Network().factor);
  EXPECT_EQ(slots_of(machine, std::vector<PlaceId>{0, 2, 5}).network().factor, 7);
}

}  // namespace
}  // namespace poise
