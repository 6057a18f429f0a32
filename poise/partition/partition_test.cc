// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/partition.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <utility>

#include "poise/base/random.h"
#include "poise/partition/bisection.h"
#include "poise/partition/coarsening.h"
#include "poise/partition/even_out.h"
#include "poise/partition/graph_testing.h"
#include "poise/partition/multilevel_bisection.h"
#include "poise/workload/generate.h"

namespace poise::graphs {
namespace {

std::vector<double> weights_of(const Graph& graph, const std::vector<Part>& part_of,
                               std::size_t parts) {
  std::vector<double> weights(parts, 0);
  for (Vertex v = 0; v < graph.num_vertices(); ++v) weights[part_of[v]] += graph.weight[v];
  return weights;
}

TEST(Partition, the_cut_is_at_most_15_percent_larger_than_that_of_the_best_bisection) {
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

TEST(Partition, puts_each_clique_into_one_part) {
  for (const Vertex count : {2u, 5u, 32u, 64u, 100u, 512u}) {
    SCOPED_TRACE(count);
    Random random(count);
    std::vector<Vertex> clique_of;
    const Graph graph = cliques(count, 12, random, clique_of);
    const std::vector<Part> part_of = partition(graph, {std::vector<double>(count, 1), 0.01, {}});
    EXPECT_EQ(cut(graph, part_of), cut(graph, clique_of));
  }
}

TEST(Partition, part_weights_follow_the_requested_shares) {
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

TEST(Partition, fixed_vertices_stay_in_their_part) {
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

TEST(MultilevelBisection, the_sides_are_the_same_if_coarse_graphs_are_freed_and_rebuilt) {
  for (const Vertex size : {60u, 120u, 240u, 480u}) {
    SCOPED_TRACE(size);
    Random random(size);
    const Graph graph = drawn_graph(size, random);
    const Split split{std::vector<Side>(size, Side::either), size / 2.0, 1};
    Tuning tuning;
    tuning.coarsest = 8;
    const std::vector<Side> sides = multilevel_bisect(graph, split, tuning);
    tuning.cached_entries = 1;
    EXPECT_EQ(multilevel_bisect(graph, split, tuning), sides);
  }
}

TEST(MultilevelBisection,
     a_clique_goes_to_the_side_to_which_one_of_its_vertices_is_pulled_or_fixed) {
  constexpr Vertex kCliques = 16, kSize = 64;
  Random random(5);
  std::vector<Vertex> clique_of;
  const Graph graph = cliques(kCliques, kSize, random, clique_of);
  // In a ring of cliques, one vertex of each clique is pulled towards a side or fixed to it: the
  // left side for every second clique, the right side for the others. The cliques are so large that
  // the expected sides are found only on coarse graphs, not by moving one vertex after another.
  std::vector<Side> expected;
  for (const Vertex clique : clique_of)
    expected.push_back(clique % 2 == 1 ? Side::left : Side::right);
  Split drawn{std::vector<Side>(graph.num_vertices(), Side::either), kCliques * kSize / 2.0, 0};
  Split fixed = drawn;
  drawn.pull_left.assign(graph.num_vertices(), 0);
  std::vector<std::uint8_t> is_known(kCliques, 0);
  for (Vertex v = 0; v < graph.num_vertices(); ++v) {
    if (std::exchange(is_known[clique_of[v]], 1)) continue;
    fixed.fixed[v] = expected[v];
    drawn.pull_left[v] = expected[v] == Side::left ? 30 : -30;
  }
  Tuning tuning;
  tuning.coarsest = 20;
  EXPECT_EQ(multilevel_bisect(graph, drawn, tuning), expected);
  EXPECT_EQ(multilevel_bisect(graph, fixed, tuning), expected);
}

TEST(Coarsening, coarsening_merges_two_vertices_only_if_weight_limit_and_fixed_parts_allow_it) {
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

TEST(Coarsening, coarsening_also_shrinks_stars_and_graphs_without_edges) {
  Workload workload;
  workload.tasks.assign(1000, {.load_s = 1});
  for (TaskId t = 1; t < 500; ++t) workload.messages.push_back({0, t, 1, 10});
  const Graph graph = affinity_graph(workload, Affinity::bytes);
  EXPECT_LE(match_heavy_edges(graph, {}, 10).num_groups, 502u);
}

TEST(EvenOut, swaps_bring_the_weight_of_every_part_near_its_share) {
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

TEST(EvenOut, spreads_half_a_million_vertices_of_one_part_evenly_over_four_parts) {
  constexpr Vertex kVertices = 500'000;
  Graph graph;
  graph.weight.assign(kVertices, 1);
  graph.first.assign(kVertices + 1, 0);
  std::vector<Part> part_of(kVertices, 0);
  even_out_by_swaps(graph, {{1, 1, 1, 1}, 0, {}}, part_of);
  for (const double weight : weights_of(graph, part_of, 4)) EXPECT_EQ(weight, kVertices / 4);
}

TEST(EvenOut, light_vertices_leave_a_part_if_its_heaviest_vertex_is_too_heavy_to_leave) {
  constexpr Vertex kLight = 500'000;
  Graph graph;
  graph.weight.assign(kLight + 1, 1);
  graph.weight[0] = 200'000;
  graph.first.assign(kLight + 2, 0);
  std::vector<Part> part_of(kLight + 1, 1);
  std::fill_n(part_of.begin(), kLight * 9 / 20, 0);
  even_out_by_swaps(graph, {{1, 1}, 0, {}}, part_of);
  EXPECT_EQ(part_of[0], 0u);
  EXPECT_NEAR(weights_of(graph, part_of, 2)[0], 350'000, 1);
}

TEST(Partition, cuts_little_of_the_affinity_of_grids_and_random_graphs_and_keeps_to_the_shares) {
  struct Case {
    const char* recipe;
    TaskId size;
    Part parts;
    double most;  // maximum fraction of all affinity that is cut
  };
  for (const auto& [recipe, size, parts, most] :
       {Case{"stencil2d", 400, 4, 0.058}, Case{"geometric", 600, 7, 0.0445},
        Case{"rmat", 800, 16, 0.573}, Case{"stencil3d", 1000, 70, 0.377},
        Case{"random", 300, 5, 0.3695}, Case{"clusters", 500, 130, 0.6645}}) {
    SCOPED_TRACE(testing::Message() << recipe << " in " << parts);
    double share_cut = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      Workload workload = generate(parse_recipe(recipe), size, seed).front();
      for (Message& message : workload.messages) message.bytes = 1 + mix(message.from) % 100;
      Graph graph = affinity_graph(workload, Affinity::bytes);
      graph.weight.assign(graph.num_vertices(), 1);
      std::vector<double> shares;
      for (Part p = 0; p < parts; ++p) shares.push_back(1 + p % 3);
      const std::vector<Part> part_of = partition(graph, {shares, 0.05, {}, 4});
      const std::vector<double> weights = weights_of(graph, part_of, parts);
      const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
      for (Part p = 0; p < parts; ++p)
        EXPECT_LE(weights[p], 1.05 * shares[p] * graph.num_vertices() / sum + 1) << p;
      share_cut += cut(graph, part_of) /
                   std::accumulate(graph.affinity.begin(), graph.affinity.end(), 0.0) * 2 / 3;
    }
    EXPECT_LE(share_cut, most);
  }
}

TEST(EvenOut, makes_the_step_after_which_the_weights_of_the_fullest_and_emptiest_part_are_closest) {
  struct Case {
    std::vector<double> weights;
    std::vector<Part> before, after;
    std::vector<Part> fixed = {};
  };
  // All numbers in these comments are weights of parts or of vertices.
  for (const auto& [weights, before, after, fixed] :
       {Case{{5, 3, 2}, {0, 0, 1}, {0, 1, 1}},                     // parts 8 and 2: moves weight 3
        Case{{6, 4, 1, 2}, {0, 0, 1, 1}, {0, 1, 1, 1}},            // parts 10 and 3: moves weight 4
        Case{{8, 6, 1, 4}, {0, 0, 1, 1}, {0, 1, 0, 1}},            // parts 14 and 5: swaps 6 and 1
        Case{{7, 1, 3, 1}, {0, 0, 1, 1}, {0, 1, 1, 1}},            // parts 8 and 4: moves weight 1
        Case{{4, 4}, {0, 1}, {0, 1}},                              // even already
        Case{{9, 1}, {0, 1}, {0, 1}},                              // nothing helps
        Case{{5, 3, 2}, {0, 0, 1}, {1, 0, 0}, {kFree, 0, kFree}},  // swaps weights 5 and 2
        Case{{5, 3, 2}, {0, 0, 1}, {0, 0, 1}, {0, 0, kFree}}}) {
    SCOPED_TRACE(testing::PrintToString(weights));
    Graph graph;
    graph.weight = weights;
    graph.first.assign(weights.size() + 1, 0);
    std::vector<Part> part_of = before;
    // With this tolerance, each case takes at most one step.
    even_out_by_swaps(graph, {{1, 1}, 0.08, fixed}, part_of);
    EXPECT_EQ(part_of, after);
  }
}

TEST(EvenOut,
     relieves_the_part_that_exceeds_its_tolerance_although_another_part_exceeds_its_share_by_more) {
  Graph graph;
  // The shares of the parts are 20, 2 and 2. With the tolerance, their limits are 24, 2.4 and 2.4.
  graph.weight = {21.5, 1, 1.5};
  graph.first.assign(4, 0);
  std::vector<Part> part_of{0, 1, 1};
  even_out_by_swaps(graph, {{10, 1, 1}, 0.2, {}}, part_of);
  EXPECT_EQ(part_of, (std::vector<Part>{0, 2, 1}));
}

TEST(EvenOut, never_increases_the_largest_excess_and_ends_where_no_step_between_two_parts_helps) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Graph graph;
    std::vector<Part> part_of;
    const Shares shares{{1, 2, 1}, 0, {}};
    for (Vertex v = 0; v < 15; ++v) {
      graph.weight.push_back(1 + random.below(9));
      part_of.push_back(random.below(3));
    }
    graph.first.assign(16, 0);
    const double total = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
    const auto excess = [&](const std::vector<Part>& parts) {
      std::vector<double> weights = weights_of(graph, parts, 3);
      for (Part p = 0; p < 3; ++p) weights[p] -= total * shares.of_part[p] / 4;
      return weights;
    };
    const auto most = [&](const std::vector<Part>& parts) {
      return std::ranges::max(excess(parts));
    };
    const double before = most(part_of);
    even_out_by_swaps(graph, shares, part_of);
    EXPECT_LE(most(part_of), before);
    const std::vector<double> now = excess(part_of);
    if (std::ranges::max(now) <= 0) continue;
    const Part fullest = std::ranges::max_element(now) - now.begin();
    const Part emptiest = std::ranges::min_element(now) - now.begin();
    if (std::ranges::count(now, now[fullest]) > 1 || std::ranges::count(now, now[emptiest]) > 1)
      continue;
    const double gap = now[fullest] - now[emptiest];
    const auto expect_no_gain = [&](std::vector<Part> changed) {
      const std::vector<double> then = excess(changed);
      EXPECT_GE(std::abs(then[fullest] - then[emptiest]), gap * (1 - 1e-6));
    };
    for (Vertex v = 0; v < 15; ++v) {
      if (part_of[v] != fullest) continue;
      std::vector<Part> changed = part_of;
      changed[v] = emptiest;
      expect_no_gain(changed);
      for (Vertex u = 0; u < 15; ++u) {
        if (part_of[u] != emptiest) continue;
        changed[u] = fullest;
        expect_no_gain(changed);
        changed[u] = emptiest;
      }
    }
  }
}

}  // namespace
}  // namespace poise::graphs
