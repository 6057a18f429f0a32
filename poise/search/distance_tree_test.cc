// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/distance_tree.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

namespace poise {
namespace {

/// Weight of a message between two places according to the tree: the weight between the children of
/// their nearest common group.
double weight_by_tree(const DistanceTree& tree, PlaceId from, PlaceId to) {
  const std::uint32_t leaf_from = tree.leaf_of(from), leaf_to = tree.leaf_of(to);
  if (leaf_from == leaf_to) return tree.leaf_weight();
  std::size_t level = 0;
  while (tree.group_of_leaf(level + 1, leaf_from) == tree.group_of_leaf(level + 1, leaf_to))
    ++level;
  const auto& group = tree.level(level)[tree.group_of_leaf(level, leaf_from)];
  if (group.is_uniform) return group.weight;
  const double weight = tree.weight(level + 1, tree.group_of_leaf(level + 1, leaf_from),
                                    tree.group_of_leaf(level + 1, leaf_to));
  EXPECT_LE(group.weight, weight);
  return weight;
}

TEST(DistanceTree, gives_the_message_cost_factor_of_the_machine_for_every_pair_of_places) {
  for (std::uint64_t seed = 0; seed < num_seeds(300); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Machine machine = random_machine(random);
    const bool knows_places = random.below(2) == 0;
    const MessageWeights weights{
        .same_place = knows_places ? -0.5 : -1, .same_domain = -1, .caches = random.below(2) == 0};
    const DistanceTree tree(machine, weights);
    for (PlaceId from = 0; from < machine.num_places(); ++from)
      for (PlaceId to = 0; to < machine.num_places(); ++to) {
        const DomainId domain_from = machine.domain_of(from), domain_to = machine.domain_of(to);
        const double expected = domain_from != domain_to
                                    ? machine.latency_factor(domain_from, domain_to)
                                : from == to     ? weights.same_place
                                : weights.caches ? machine.message_factor(from, to) - 2
                                                 : weights.same_domain;
        ASSERT_EQ(weight_by_tree(tree, from, to), expected) << machine.name();
      }
  }
}

TEST(DistanceTree, the_children_of_a_group_cover_all_its_places) {
  const DistanceTree tree(
      machine_from_text("rack:2 node:3 package:2 numa:2 core:4 factors:20,10,2,1.5,1"), {-1, 1});
  ASSERT_EQ(tree.num_levels(), 6u);
  for (std::size_t l = 0; l + 1 < tree.num_levels(); ++l)
    for (const DistanceTree::Group& group : tree.level(l)) {
      EXPECT_TRUE(group.is_uniform);
      EXPECT_EQ(tree.level(l + 1)[group.first_child].first, group.first);
      EXPECT_EQ(tree.level(l + 1)[group.last_child - 1].last, group.last);
    }
}

TEST(DistanceTree, omits_machine_levels_that_do_not_affect_message_costs) {
  MachineParts parts = machine_from_text("package:2 numa:2 core:2 factors:2,1.5,1").parts();
  EXPECT_EQ(DistanceTree(Machine(parts), {-1, -1}).num_levels(), 3u);
  parts.node_kinds[0].latency_factor[1 * 4 + 2] = 3;
  const DistanceTree tree(Machine(parts), {-1, -1});
  EXPECT_EQ(tree.num_levels(), 2u);
  EXPECT_FALSE(tree.level(0)[0].is_uniform);
}

TEST(DistanceTree,
     a_group_stores_the_least_message_weight_inside_the_group_and_between_its_children) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Machine machine = random_machine(random);
    const MessageWeights weights{.same_place = random.below(2) == 0 ? -0.5 : 2,
                                 .same_domain = random.below(2) == 0 ? -1.0 : 1.0,
                                 .caches = random.below(2) == 0};
    const DistanceTree tree(machine, weights);
    const Network::Shape shape = machine.network().shape;
    const bool is_exact = shape == Network::Shape::tree || shape == Network::Shape::matrix;
    ASSERT_EQ(tree.level(0).size(), 1u);
    for (std::size_t l = 0; l < tree.num_levels(); ++l)
      for (const DistanceTree::Group& group : tree.level(l)) {
        double least = weights.same_place, least_between = 1e9, most_between = -1e9;
        const auto child_of = [&](PlaceId p) { return tree.group_of_leaf(l + 1, tree.leaf_of(p)); };
        for (PlaceId a = group.first; a < group.last; ++a)
          for (PlaceId b = group.first; b < group.last; ++b) {
            if (tree.leaf_of(a) == tree.leaf_of(b)) continue;
            const double weight = weight_by_tree(tree, a, b);
            least = std::min(least, weight);
            if (child_of(a) == child_of(b)) continue;
            least_between = std::min(least_between, weight);
            most_between = std::max(most_between, weight);
          }
        const bool has_children = least_between < 1e9;
        EXPECT_LE(group.lightest, least);
        if (has_children) {
          EXPECT_LE(group.weight, least_between);
        }
        if (is_exact) {
          EXPECT_EQ(group.lightest, least);
        }
        if (is_exact && has_children) {
          EXPECT_EQ(group.weight, least_between);
        }
        if (is_exact && has_children) {
          EXPECT_EQ(group.is_uniform, least_between == most_between);
        }
      }
  }
}

TEST(DistanceTree, on_a_torus_messages_between_nodes_weigh_at_least_the_weight_of_the_root) {
  // Nodes 0 and 1 are at opposite corners of the torus, or share a router.
  for (const std::vector<std::uint32_t>& routers :
       {std::vector<std::uint32_t>{0, 10, 5, 1, 2, 3}, {4, 4, 5, 1, 2, 3}}) {
    MachineParts parts = machine_from_text("torus:4x4 core:2 factors:3,1 hop:0.5").parts();
    parts.places.resize(2 * routers.size());
    for (Level& level : parts.levels) {
      std::erase_if(level.first_place, [&](PlaceId p) { return p > 2 * routers.size(); });
    }
    parts.kind_of_node.resize(routers.size());
    parts.network.router_of_node = routers;
    const Machine machine(std::move(parts));
    const DistanceTree tree(machine, {-1, -1});
    EXPECT_FALSE(tree.level(0)[0].is_uniform);
    for (PlaceId a = 0; a < machine.num_places(); ++a)
      for (PlaceId b = 0; b < machine.num_places(); ++b)
        if (a / 2 != b / 2) {
          EXPECT_LE(tree.level(0)[0].weight, weight_by_tree(tree, a, b)) << a << " " << b;
        }
  }
}

TEST(DistanceTree, has_a_level_for_each_division_of_places_that_affects_message_costs) {
  struct Case {
    const char* machine;
    MessageWeights weights;
    std::vector<std::size_t> groups;  // per level
  };
  for (const auto& [text, weights, groups] :
       {Case{"core:4", {-1, -1}, {1}}, Case{"core:4", {-1, 1}, {1, 4}},
        Case{"core:4", {-1, -1, true}, {1, 4}}, Case{"core:1", {-1, 1}, {1}},
        Case{"node:3 core:2 factors:7,1", {-1, -1}, {1, 3}},
        Case{"node:3 numa:2 core:2 factors:7,2,1", {-1, -1}, {1, 3, 6}},
        Case{"node:3 numa:2 core:2 factors:7,2,1", {0, -1}, {1, 3, 6, 12}},
        Case{"rack:2 node:3 core:2 factors:9,7,1", {-1, -1}, {1, 2, 6}},
        Case{"rack:2 switch:2 node:3 core:2 factors:9,8,7,1", {-1, -1}, {1, 2, 4, 12}},
        Case{"numa:2 l3:2 core:3 factors:2,1.5,1", {-1, -1, false}, {1, 2}},
        Case{"numa:2 l3:2 core:3 factors:2,1.5,1", {-1, -1, true}, {1, 2, 4, 12}},
        Case{"torus:2x3 numa:2 core:2 factors:9,2,1", {-1, -1}, {1, 6, 12}}}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    const DistanceTree tree(machine, weights);
    std::vector<std::size_t> found;
    for (std::size_t l = 0; l < tree.num_levels(); ++l) found.push_back(tree.level(l).size());
    EXPECT_EQ(found, groups);
    EXPECT_EQ(tree.level(0)[0].is_uniform, std::string_view(text).find("torus") != 0);
  }
}

}  // namespace
}  // namespace poise
