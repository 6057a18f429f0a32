// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/slots.h"

#include <gtest/gtest.h>
#include <vector>

#include "poise/base/error.h"
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

}  // namespace
}  // namespace poise
