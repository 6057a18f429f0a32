// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/bisection.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/partition/graph_testing.h"

namespace poise::graphs {
namespace {

/// The quality of a division; smaller is better. `first` is the amount by which the deviation of
/// the left side from its requested weight exceeds the slack. `second` is the cut. Edges to
/// vertices outside the graph add to the cut the value pull_left of each vertex on the right side.
using Score = std::pair<double, double>;

Score score(const Graph& graph, const Split& split, const std::vector<Side>& sides) {
  double left = 0, cut = 0;
  for (Vertex v = 0; v < graph.num_vertices(); ++v) {
    if (sides[v] == Side::left) left += graph.weight[v];
    if (!split.pull_left.empty() && sides[v] == Side::right) cut += split.pull_left[v];
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      if (v < graph.to[e] && sides[v] != sides[graph.to[e]]) cut += graph.affinity[e];
  }
  return {std::max(0.0, std::fabs(left - split.left_weight) - split.slack), cut};
}

struct Drawn {
  Graph graph;
  Split split;
};

/// A graph with weights from 1 to 3. All numbers are whole, so that sums are exact.
Drawn drawn(Vertex size, std::uint64_t seed) {
  Random random(seed);
  Drawn made{drawn_graph(size, random), {}};
  double total = 0;
  for (double& weight : made.graph.weight) total += weight = 1 + random.below(3);
  made.split = {.fixed = std::vector<Side>(size, Side::either),
                .left_weight = std::floor(total * random.uniform(0.3, 0.7)),
                .slack = 1.0 * random.below(3)};
  if (seed % 2 == 1)
    for (Side& side : made.split.fixed)
      if (random.below(5) == 0) side = random.below(2) == 0 ? Side::left : Side::right;
  if (seed % 3 == 0)
    for (Vertex v = 0; v < size; ++v)
      made.split.pull_left.push_back(200 * std::floor(random.uniform(-1, 2)));
  return made;
}

bool respects(const std::vector<Side>& sides, const Split& split) {
  for (std::size_t v = 0; v < sides.size(); ++v)
    if (sides[v] == Side::either || (split.fixed[v] != Side::either && split.fixed[v] != sides[v]))
      return false;
  return true;
}

/// The best score of all divisions that leave fixed vertices on their sides.
Score least(const Drawn& drawn) {
  const Vertex size = drawn.graph.num_vertices();
  std::vector<Side> sides(size);
  Score best{1e18, 1e18};
  for (unsigned set = 0; set < 1u << size; ++set) {
    for (Vertex v = 0; v < size; ++v) sides[v] = (set >> v & 1) != 0 ? Side::left : Side::right;
    if (respects(sides, drawn.split)) best = std::min(best, score(drawn.graph, drawn.split, sides));
  }
  return best;
}

TEST(Bisection,
     divides_nearly_all_small_graphs_with_the_best_balance_and_most_with_the_smallest_cut) {
  int num_even = 0, num_optimal = 0;
  double sum = 0, least_sum = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn problem = drawn(10, seed);
    const std::vector<Side> sides = bisect(problem.graph, problem.split);
    ASSERT_TRUE(respects(sides, problem.split));
    const Score found = score(problem.graph, problem.split, sides), best = least(problem);
    EXPECT_GE(found, best);
    num_even += found.first == best.first ? 1 : 0;
    num_optimal += found == best ? 1 : 0;
    sum += found.second;
    least_sum += best.second;
  }
  EXPECT_GE(num_even, 113);
  EXPECT_GE(num_optimal, 79);
  EXPECT_LE(sum, 1.08 * least_sum);
}

TEST(Bisection, trying_more_start_vertices_never_gives_a_worse_bisection) {
  int num_better = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Drawn problem = drawn(30, seed);
    const auto with = [&](Vertex attempts) {
      problem.split.attempts = attempts;
      return score(problem.graph, problem.split, bisect(problem.graph, problem.split));
    };
    const Score few = with(2), many = with(9);
    EXPECT_LE(many, few);
    num_better += many < few ? 1 : 0;
  }
  EXPECT_GE(num_better, 17);
}

TEST(Bisection, improving_never_worsens_the_score_and_mostly_ends_where_no_single_move_would_help) {
  Tuning thorough;
  thorough.refining_passes = 1000;
  int num_settled = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto& [graph, split] = drawn(16, seed);
    Random random(seed);
    std::vector<Side> sides;
    for (const Side side : split.fixed)
      sides.push_back(side != Side::either   ? side
                      : random.below(2) == 0 ? Side::left
                                             : Side::right);
    const Score before = score(graph, split, sides);
    improve(graph, split, sides, thorough);
    ASSERT_TRUE(respects(sides, split));
    const Score after = score(graph, split, sides);
    EXPECT_LE(after, before);
    bool is_settled = true;
    for (Vertex v = 0; v < graph.num_vertices(); ++v) {
      if (split.fixed[v] != Side::either) continue;
      std::vector<Side> flipped = sides;
      flipped[v] = sides[v] == Side::left ? Side::right : Side::left;
      is_settled = is_settled && after <= score(graph, split, flipped);
    }
    num_settled += is_settled ? 1 : 0;
  }
  EXPECT_GE(num_settled, 281);
}

TEST(Bisection, separates_two_cliques_and_fills_the_left_side_with_vertices_without_edges) {
  // The left side must get one of the cliques and `lone_left` of the vertices without edges.
  constexpr Vertex kClique = 6, kLone = 5;
  for (Vertex lone_left = 0; lone_left <= kLone; ++lone_left)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(testing::Message() << lone_left << ", seed " << seed);
      Random random(seed);
      std::vector<Vertex> name(2 * kClique + kLone);
      std::iota(name.begin(), name.end(), 0);
      for (std::size_t i = name.size(); i > 1; --i) std::swap(name[i - 1], name[random.below(i)]);
      Workload workload;
      workload.tasks.resize(name.size(), {.load_s = 1});
      for (Vertex a = 0; a < 2 * kClique; ++a)
        for (Vertex b = a - a % kClique; b < a; ++b)
          workload.messages.push_back({name[a], name[b], 1, 10});
      const Graph graph = affinity_graph(workload, Affinity::bytes);
      const Split split{.fixed = std::vector<Side>(name.size(), Side::either),
                        .left_weight = 1.0 * (kClique + lone_left),
                        .attempts = 6};
      EXPECT_EQ(score(graph, split, bisect(graph, split)), Score(0, 0));
    }
}

TEST(Bisection, an_empty_graph_has_no_sides) { EXPECT_TRUE(bisect(Graph(), Split()).empty()); }

}  // namespace
}  // namespace poise::graphs
