// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/listing.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "poise/base/random.h"
#include "poise/partition/graph_testing.h"
#include "poise/partition/partition.h"

namespace poise::tree_match {
namespace {

TEST(Listing, counts_the_ways_to_choose_elements_and_to_divide_them_into_groups) {
  EXPECT_EQ(count_subsets(7, 0), 1);
  EXPECT_EQ(count_subsets(7, 1), 7);
  EXPECT_EQ(count_subsets(7, 3), 35);
  EXPECT_EQ(count_subsets(7, 7), 1);
  EXPECT_EQ(count_subsets(30, 15), 155117520);
  EXPECT_EQ(count_groupings(6, 6), 1);
  EXPECT_EQ(count_groupings(6, 1), 1);
  EXPECT_EQ(count_groupings(6, 2), 15);
  EXPECT_EQ(count_groupings(6, 3), 10);
  EXPECT_EQ(count_groupings(12, 3), 15400);
  EXPECT_EQ(count_groupings(14, 2), 135135);
}

Graph drawn(Vertex size) {
  Random random(size);
  return drawn_graph(size, random);
}

TEST(Listing, visits_every_division_into_groups_once_with_the_affinity_inside_the_groups) {
  for (const auto& [size, arity] : {std::pair<Vertex, std::uint32_t>{1, 1},
                                    {4, 1},
                                    {4, 2},
                                    {6, 2},
                                    {6, 3},
                                    {8, 2},
                                    {8, 4},
                                    {9, 3},
                                    {5, 5}}) {
    SCOPED_TRACE(testing::Message() << size << " in groups of " << arity);
    const Graph graph = drawn(size);
    double all = 0;
    for (const double affinity : graph.affinity) all += affinity / 2;
    std::set<std::vector<Vertex>> seen;
    for_each_grouping(Matrix(graph), arity, [&](std::span<const Vertex> group_of, double value) {
      const std::vector<Vertex> division(group_of.begin(), group_of.end());
      EXPECT_TRUE(seen.insert(division).second);
      EXPECT_DOUBLE_EQ(value, all - cut(graph, division));
      std::vector<std::uint32_t> members(size / arity, 0);
      for (const Vertex group : division) ++members.at(group);
      for (const std::uint32_t count : members) EXPECT_EQ(count, arity);
    });
    EXPECT_EQ(seen.size(), count_groupings(size, arity));
  }
}

TEST(Listing, visits_every_subset_once_with_the_affinity_inside_it) {
  constexpr Vertex kSize = 7;
  const Graph graph = drawn(kSize);
  for (std::uint32_t arity = 1; arity <= kSize; ++arity) {
    SCOPED_TRACE(arity);
    std::set<std::vector<Vertex>> seen;
    for_each_subset(Matrix(graph), arity, [&](std::span<const Vertex> group, double value) {
      EXPECT_TRUE(seen.emplace(group.begin(), group.end()).second);
      EXPECT_EQ(group.size(), arity);
      double inside = 0;
      for (const Vertex a : group)
        for (const Vertex b : group)
          if (a < b) inside += affinity_between(graph, a, b);
      EXPECT_DOUBLE_EQ(value, inside);
    });
    EXPECT_EQ(seen.size(), count_subsets(kSize, arity));
  }
}

}  // namespace
}  // namespace poise::tree_match
