// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/locality.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/machine/discover.h"

namespace poise::tasks {
namespace {

using testing::ElementsAre;

Machine three_domains() {
  MachineParts parts = machine_from_hwloc_synthetic("numa:3 core:2 pu:2").parts();
  parts.node_kinds[0].latency_factor = {1, 2, 3, 2, 1, 2, 3, 2, 1};
  return Machine(std::move(parts));
}

// Two cores with two processing units each.
const Machine kMachine = three_domains();

std::vector<double> distances(const Locality& locality) {
  std::vector<double> found;
  for (const PeerLocality& peer : locality.of_rank) found.push_back(peer.distance);
  return found;
}

std::vector<std::uint32_t> groups(const Locality& locality) {
  std::vector<std::uint32_t> found;
  for (const PeerLocality& peer : locality.of_rank) found.push_back(peer.group);
  return found;
}

TEST(Locality, ranks_of_the_same_NUMA_domain_are_nearest_and_ranks_of_other_nodes_are_farthest) {
  const RankLocation ranks[] = {{8, 0}, {8, 2}, {9, 0}, {9, 1}, {8, 0}, {8, 2}};
  const Locality seen = locality_among(ranks, 4, kMachine);
  EXPECT_THAT(seen.nodes, ElementsAre(0, 0, 2, 2, 0, 0));
  EXPECT_THAT(distances(seen), ElementsAre(1, 3, INFINITY, INFINITY, 1, 3));
  EXPECT_THAT(groups(seen), ElementsAre(0, 1, 2, 2, 0, 1));
  EXPECT_THAT(groups(locality_among(ranks, 2, kMachine)), ElementsAre(0, 0, 2, 3, 0, 0));
}

TEST(Locality, a_rank_bound_to_several_NUMA_domains_has_distance_1_to_all_ranks_of_its_node) {
  const RankLocation ranks[] = {{8, -1}, {8, 1}, {8, 2}, {9, -1}};
  EXPECT_THAT(distances(locality_among(ranks, 0, kMachine)), ElementsAre(1, 1, 1, INFINITY));
  EXPECT_THAT(distances(locality_among(ranks, 1, kMachine)), ElementsAre(1, 1, 2, INFINITY));
}

TEST(Locality, a_rank_in_an_unknown_NUMA_domain_is_farther_than_a_rank_in_the_same_domain) {
  const RankLocation ranks[] = {{8, 1}, {8, 7}};
  EXPECT_THAT(distances(locality_among(ranks, 0, kMachine)), ElementsAre(1, 1.5));
}

TEST(Locality, finds_the_NUMA_domain_that_contains_all_given_processing_units) {
  const auto domain = [](std::vector<std::uint32_t> units) { return domain_of(kMachine, units); };
  EXPECT_EQ(domain({8}), 2);
  EXPECT_EQ(domain({4, 5, 6}), 1);
  EXPECT_EQ(domain({2, 4}), -1);
  EXPECT_EQ(domain({1000}), -1);
  EXPECT_EQ(domain({}), -1);
}

}  // namespace
}  // namespace poise::tasks
