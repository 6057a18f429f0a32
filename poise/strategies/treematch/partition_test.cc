#include "poise/strategies/treematch/partition.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

#include "poise/base/random.h"
#include "poise/strategies/treematch/bisection.h"
#include "poise/strategies/treematch/coarsening.h"
#include "poise/strategies/treematch/evening.h"
#include "poise/strategies/treematch/grouping.h"

namespace poise::tree_match {
namespace {

Graph drawn_graph(Vertex size, Random& random) {
  Workload workload;
  workload.tasks.resize(size, {.load_s = 1});
  for (Vertex a = 0; a < size; ++a)
    for (Vertex b = 0; b < a; ++b)
      if (random.below(2) == 0) workload.messages.push_back({a, b, 1, 1 + random.below(100)});
  return affinity_graph(workload, Affinity::bytes);
}

/// Cliques of `size` tasks in a drawn order, joined by thin threads to the next.
Graph cliques(Vertex count, Vertex size, Random& random, std::vector<Vertex>& clique_of) {
  Workload workload;
  workload.tasks.assign(count * size, {.load_s = 1});
  std::vector<Vertex> name(count * size);
  std::iota(name.begin(), name.end(), 0);
  for (std::size_t i = name.size(); i > 1; --i) std::swap(name[i - 1], name[random.below(i)]);
  clique_of.resize(name.size());
  for (Vertex a = 0; a < name.size(); ++a) {
    clique_of[name[a]] = a / size;
    for (Vertex b = a - a % size; b < a; ++b)
      workload.messages.push_back({name[a], name[b], 1, 50});
    if (a % size == 0)
      workload.messages.push_back(
          {name[a], name[(a + size) % static_cast<Vertex>(name.size())], 1, 1});
  }
  return affinity_graph(workload, Affinity::bytes);
}

std::vector<double> weights_of(const Graph& graph, const std::vector<Part>& part_of,
                               std::size_t parts) {
  std::vector<double> weights(parts, 0);
  for (Vertex v = 0; v < graph.num_vertices(); ++v) weights[part_of[v]] += graph.weight[v];
  return weights;
}

TEST(Partition, cuts_little_more_than_the_best_of_all_bisections) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = drawn_graph(10, random);
    double least = std::numeric_limits<double>::infinity();
    for (unsigned set = 0; set < 1u << 10; ++set) {
      std::vector<Part> part_of(10);
      for (Vertex v = 0; v < 10; ++v) part_of[v] = set >> v & 1;
      if (std::count(part_of.begin(), part_of.end(), 1u) == 5)
        least = std::min(least, cut(graph, part_of));
    }
    const std::vector<Part> part_of = partition(graph, {{1, 1}, 0, {}});
    EXPECT_EQ(weights_of(graph, part_of, 2), (std::vector<double>{5, 5}));
    EXPECT_LE(cut(graph, part_of), 1.15 * least);
  }
}

TEST(Partition, finds_cliques_in_one_stage_and_in_several) {
  for (const Vertex count : {2u, 5u, 32u, 64u, 100u, 512u}) {
    SCOPED_TRACE(count);
    Random random(count);
    std::vector<Vertex> clique_of;
    const Graph graph = cliques(count, 12, random, clique_of);
    const std::vector<Part> part_of = partition(graph, {std::vector<double>(count, 1), 0.01, {}});
    EXPECT_EQ(cut(graph, part_of), cut(graph, clique_of));
  }
}

TEST(Partition, parts_have_their_shares) {
  Random random(1);
  std::vector<Vertex> clique_of;
  Graph graph = cliques(1, 400, random, clique_of);
  for (double& weight : graph.weight) weight = random.uniform(0.5, 1.5);
  const std::vector<double> shares = {1, 0.5, 2, 0, 1.5, 1};
  const std::vector<double> weights =
      weights_of(graph, partition(graph, {shares, 0.05, {}}), shares.size());
  const double total = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
  for (std::size_t p = 0; p < shares.size(); ++p)
    EXPECT_LE(weights[p], total * shares[p] / 6 * 1.05 * (1 + 1e-12)) << p;
}

TEST(Partition, fixed_vertices_stay) {
  for (const Part parts : {4u, 100u}) {
    Random random(2);
    std::vector<Vertex> clique_of;
    const Graph graph = cliques(parts, 8, random, clique_of);
    Shares shares{std::vector<double>(parts, 1), 0.05, {}};
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
      shares.fixed.push_back(random.below(5) == 0 ? static_cast<Part>(random.below(parts)) : kFree);
    const std::vector<Part> part_of = partition(graph, shares);
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
      EXPECT_TRUE(shares.fixed[v] == kFree || shares.fixed[v] == part_of[v]) << v;
  }
}

TEST(Coarsening, pairs_respect_weights_and_parts) {
  Random random(3);
  Graph graph = drawn_graph(60, random);
  std::vector<Part> fixed;
  for (double& weight : graph.weight) {
    weight = random.uniform(0.1, 1);
    fixed.push_back(random.below(2) == 0 ? static_cast<Part>(random.below(3)) : kFree);
  }
  const Matching matching = match_heavy_edges(graph, fixed, 1.2);
  const Groups groups = arrange(matching.group_of, matching.num_groups);
  EXPECT_LT(matching.num_groups, 60u);
  for (Vertex g = 0; g < matching.num_groups; ++g) {
    ASSERT_LE(groups.of(g).size(), 2u);
    if (groups.of(g).size() < 2) continue;
    const Vertex a = groups.of(g)[0], b = groups.of(g)[1];
    EXPECT_LE(graph.weight[a] + graph.weight[b], 1.2);
    EXPECT_TRUE(fixed[a] == kFree || fixed[b] == kFree || fixed[a] == fixed[b]);
  }
}

TEST(Coarsening, stars_and_lone_vertices_shrink_too) {
  Workload workload;
  workload.tasks.assign(1000, {.load_s = 1});
  for (TaskId t = 1; t < 500; ++t) workload.messages.push_back({0, t, 1, 10});
  const Graph graph = affinity_graph(workload, Affinity::bytes);
  EXPECT_LE(match_heavy_edges(graph, {}, 10).num_groups, 502u);
}

TEST(Evening, swaps_bring_every_part_near_its_share) {
  Random random(4);
  Graph graph = drawn_graph(200, random);
  for (double& weight : graph.weight) weight = portable_exp(random.normal());
  std::vector<Part> part_of(200, 0);
  for (Vertex v = 100; v < 200; ++v) part_of[v] = 1 + v % 3;
  const Shares shares{{1, 1, 1, 1}, 0.02, {}};
  even_out_by_swaps(graph, shares, part_of);
  const std::vector<double> weights = weights_of(graph, part_of, 4);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const double weight : weights) EXPECT_LE(weight, total / 4 * 1.02 * (1 + 1e-12));
}

double inside(const Graph& graph, const std::vector<Vertex>& group_of) {
  return std::accumulate(graph.affinity.begin(), graph.affinity.end(), 0.0) / 2 -
         cut(graph, group_of);
}

void expect_groups_of(std::uint32_t arity, const std::vector<Vertex>& group_of) {
  std::vector<std::uint32_t> size(group_of.size() / arity, 0);
  for (const Vertex group : group_of) ++size.at(group);
  for (const std::uint32_t members : size) EXPECT_EQ(members, arity);
}

TEST(Grouping, finds_cliques_of_any_size_by_every_method) {
  // 12 in pairs are all listed, 14 in pairs come from buckets, 30 in threes from a list of groups,
  // and 200 in groups of 10 are partitioned.
  const std::vector<std::pair<Vertex, std::uint32_t>> shapes = {
      {12, 2}, {14, 2}, {600, 2}, {9, 3}, {30, 3}, {200, 10}, {62, 31}, {620, 31}};
  for (const auto& [size, arity] : shapes) {
    SCOPED_TRACE(testing::Message() << size << " in groups of " << arity);
    Random random(size);
    std::vector<Vertex> clique_of;
    const Graph graph = cliques(size / arity, arity, random, clique_of);
    const std::vector<Vertex> group_of = group_by_affinity(graph, arity);
    expect_groups_of(arity, group_of);
    EXPECT_EQ(inside(graph, group_of), inside(graph, clique_of));
  }
}

TEST(Grouping, pairs_from_buckets_hold_nearly_what_the_best_pairs_do) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Graph graph = drawn_graph(12, random);
    const double best = inside(graph, group_by_affinity(graph, 2));  // all are listed
    pad(graph, 14, 1);                                               // now they are too many
    const std::vector<Vertex> group_of = group_by_affinity(graph, 2);
    expect_groups_of(2, group_of);
    EXPECT_GE(inside(graph, group_of), 0.8 * best);
  }
}

}  // namespace
}  // namespace poise::tree_match
