// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/leader_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(LeaderProblem, an_arriving_vertex_goes_to_the_child_with_room_that_it_communicates_with_most) {
  const Machine machine = machine_from_text("core:4");
  const RankGroups groups(machine, 4);
  const Choice keep = parse_strategy("keep");
  const VertexName large{0, 0}, small{0, 1}, arriving{9, 0};
  const std::vector<Guest> guests = {{large, {.load_s = 3, .child = 0}},
                                     {small, {.load_s = 0.1, .child = 1}},
                                     {arriving, {.load_s = 0.5}}};
  const auto messages_to = [&](const VertexName& other, std::uint64_t bytes) {
    return GuestEdge{.guest = arriving, .other = other, .is_sent = 1, .count = 1, .bytes = bytes};
  };
  // Child 0 is full. Children 2 and 3 are idle, but the arriving vertex exchanges no messages with
  // them. So it goes to child 1.
  EXPECT_THAT(decide({machine, groups, keep}, groups.top(), 0, guests,
                     {messages_to(large, 1'000'000), messages_to(small, 1'000)}),
              testing::ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace poise
