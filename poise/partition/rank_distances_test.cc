// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/rank_distances.h"

#include <gtest/gtest.h>

#include "tests/support/random_problem.h"

#include "poise/machine/json.h"

namespace poise {
namespace {

void expect_mean_of_both_directions(const Machine& machine) {
  for (const Distance distance : {Distance::hops, Distance::factors}) {
    const RankDistances distances(machine, distance);
    EXPECT_EQ(distances.num_nodes(), machine.num_nodes());
    for (PlaceId a = 0; a < machine.num_places(); ++a) {
      const RankDistances::Position position = distances.position_of(a);
      EXPECT_EQ(position.node, machine.node_of_place(a));
      EXPECT_EQ(machine.first_place(machine.first_domain(position.node)) + position.inside, a);
      EXPECT_EQ(distances.node_of(a), position.node);
      for (PlaceId b = 0; b < machine.num_places(); ++b) {
        const double mean = (distance_between(machine, distance, a, b) +
                             distance_between(machine, distance, b, a)) /
                            2;
        ASSERT_FLOAT_EQ(static_cast<float>(distances(a, b)), static_cast<float>(mean))
            << machine.name() << ": " << a << " and " << b << " by " << name_of(distance);
      }
    }
  }
}

TEST(RankDistances, are_the_mean_of_the_distances_in_both_directions) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    expect_mean_of_both_directions(random_machine(random));
  }
}

TEST(RankDistances, are_exact_if_nodes_differ_in_caches_or_in_their_numbers_of_places) {
  for (const char* levels :
       {R"({"name": "node", "count": 2}, {"name": "l3", "count": 2},
           {"name": "core", "count": [1, 3, 2, 2]})",
        R"({"name": "node", "count": 2}, {"name": "l3", "count": [2, 1]},
           {"name": "core", "count": [2, 2, 4]})",
        R"({"name": "node", "count": 2}, {"name": "l3", "count": [2, 3]},
           {"name": "core", "count": [3, 3, 2, 2, 2]})",
        R"({"name": "node", "count": 3}, {"name": "core", "count": [2, 1, 3]})",
        R"({"name": "node", "count": 3}, {"name": "core", "count": [2, 3, 1]})"}) {
    SCOPED_TRACE(levels);
    expect_mean_of_both_directions(machine_from_json(
        std::string(R"({"poise_machine": 1, "levels": [)") + levels + "]}", "test"));
  }
}

}  // namespace
}  // namespace poise
