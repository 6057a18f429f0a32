// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/leader_problem.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/random.h"
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
  // The arriving vertex exchanges messages only with vertices of children 0 and 1, and child 0 has
  // no room for it. So the arriving vertex goes to child 1, although children 2 and 3 are idle.
  EXPECT_THAT(decide({machine, groups, keep}, groups.top(), 0, guests,
                     {messages_to(large, 1'000'000), messages_to(small, 1'000)}),
              testing::ElementsAre(0, 1, 1));
}

/// A machine whose places differ in speed.
Machine uneven_machine(std::string_view text, Random& random) {
  MachineParts parts = with_formula(machine_from_text(text), CostFormula::physical).parts();
  for (Place& place : parts.places) place.speed = random.uniform(0.3, 1);
  return Machine(std::move(parts));
}

/// The children at which the guests start, as computed by a simple reference implementation. Each
/// child of the leader is a single place.
std::vector<std::uint32_t> starts_of(const Machine& machine,
                                     const std::vector<std::uint32_t>& children,
                                     const std::vector<Guest>& guests,
                                     const std::vector<GuestEdge>& edges) {
  const UnitCosts unit = unit_costs(machine, machine.costs());
  constexpr std::uint32_t kUnplaced = 99;
  std::vector<std::uint32_t> starts;
  std::vector<std::size_t> arrivals;
  double all_s = 0, speed = 0;
  for (std::size_t g = 0; g < guests.size(); ++g) {
    all_s += guests[g].vertex.load_s;
    starts.push_back(guests[g].home.rank == children[0] ? children[guests[g].vertex.child]
                                                        : kUnplaced);
    if (starts.back() == kUnplaced) arrivals.push_back(g);
  }
  for (const std::uint32_t child : children) speed += machine.speed_of(child);
  std::ranges::stable_sort(arrivals, std::greater<>(),
                           [&](std::size_t g) { return guests[g].vertex.load_s; });
  for (const std::size_t g : arrivals) {
    std::uint32_t idlest = children[0], nearest = kUnplaced;
    double least_s = 1e300, most = 0;
    for (const std::uint32_t child : children) {
      double busy_s = guests[g].vertex.load_s, affinity = 0;
      for (std::size_t other = 0; other < guests.size(); ++other) {
        if (starts[other] != child) continue;
        busy_s += guests[other].vertex.load_s;
        for (const GuestEdge& edge : edges)
          if ((edge.guest == guests[g].home && edge.other == guests[other].home) ||
              (edge.other == guests[g].home && edge.guest == guests[other].home))
            affinity += edge.count * unit.message_s + edge.bytes * unit.byte_s;
      }
      busy_s /= machine.speed_of(child);
      if (busy_s < least_s) idlest = child, least_s = busy_s;
      if (busy_s <= 1.02 * all_s / speed && affinity > most) nearest = child, most = affinity;
    }
    starts[g] = nearest == kUnplaced ? idlest : nearest;
  }
  return starts;
}

TEST(LeaderProblem, vertices_start_at_the_children_that_a_simple_reference_implementation_chooses) {
  struct Case {
    const char* machine;
    std::uint32_t leader;
    std::vector<std::uint32_t> children, other_leaders;
  };
  const std::vector<Case> cases{{"core:5", 0, {0, 1, 2, 3, 4}, {}},
                                {"node:4 core:2", 2, {2, 3}, {0, 4, 6}},
                                {"node:2 core:4", 4, {4, 5, 6, 7}, {0}}};
  const Choice keep = parse_strategy("keep");
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto& [text, leader, children, other_leaders] = cases[seed % cases.size()];
    const Machine machine = uneven_machine(text, random);
    const RankGroups groups(machine, 5);
    std::vector<Guest> guests;
    const std::uint32_t own = random.below(8), arriving = random.below(8);
    for (std::uint32_t g = 0; g < own + arriving; ++g)
      guests.push_back({{g < own ? leader : 50, g},
                        {.load_s = 0.25 * random.below(5),
                         .child = static_cast<std::uint32_t>(random.below(children.size()))}});
    std::vector<GuestEdge> edges, inside;
    for (std::size_t e = guests.empty() ? 0 : random.below(30); e > 0; --e) {
      const VertexName guest = guests[random.below(guests.size())].home;
      GuestEdge edge{.guest = guest,
                     .other = guests[random.below(guests.size())].home,
                     .other_leader = leader,
                     .is_sent = static_cast<std::uint32_t>(random.below(2)),
                     .count = random.below(4),
                     .bytes = random.below(100'000)};
      if (!other_leaders.empty() && random.below(3) == 0) {
        edge.other = {60, static_cast<std::uint32_t>(random.below(1000))};
        edge.other_leader = other_leaders[random.below(other_leaders.size())];
      } else if (edge.other == guest) {
        continue;
      } else {
        inside.push_back(edge);
      }
      edges.push_back(edge);
    }
    EXPECT_EQ(decide({machine, groups, keep}, 1, leader, guests, edges),
              starts_of(machine, children, guests, inside));
  }
}

}  // namespace
}  // namespace poise
