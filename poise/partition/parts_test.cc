// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/parts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "poise/base/random.h"
#include "poise/partition/graph_testing.h"

namespace poise::graphs {
namespace {

constexpr Part kParts = 3;

struct Drawn {
  Graph graph;
  Shares shares;
  double spare = 0;
  std::vector<Part> start;

  std::vector<double> weights(const std::vector<Part>& part_of) const {
    std::vector<double> weights(shares.of_part.size(), 0);
    for (Vertex v = 0; v < graph.num_vertices(); ++v) weights[part_of[v]] += graph.weight[v];
    return weights;
  }
  /// The maximum weight of each part.
  std::vector<double> most() const {
    double total = 0, shared = 0;
    for (const double weight : graph.weight) total += weight;
    for (const double share : shares.of_part) shared += share;
    std::vector<double> most;
    for (const double share : shares.of_part)
      most.push_back(share > 0 ? total * share / shared * (1 + shares.tolerance) + spare : 0);
    return most;
  }
  bool is_overweight(const std::vector<Part>& part_of) const {
    const std::vector<double> now = weights(part_of), limit = most();
    for (Part p = 0; p < now.size(); ++p)
      if (now[p] > limit[p]) return true;
    return false;
  }
  bool is_free(Vertex v) const { return shares.fixed.empty() || shares.fixed[v] == kFree; }
};

/// A graph whose weights, affinities and limits are whole numbers, divided at random.
Drawn drawn(Vertex size, std::uint64_t seed) {
  Random random(seed);
  Drawn made{drawn_graph(size, random), {}, 1.0 * random.below(3), {}};
  double total = 0;
  for (double& weight : made.graph.weight) total += weight = 1 + random.below(3);
  made.graph.weight[0] += 16 - static_cast<int>(total) % 16;  // so that limits are whole numbers
  made.shares = {{1, 2, seed % 4 == 0 ? 0.0 : 1.0}, 0.25, {}};
  if (seed % 4 == 0) made.shares.of_part[0] = 2;
  for (Vertex v = 0; v < size; ++v) {
    made.start.push_back(random.below(kParts));
    if (seed % 3 == 0) made.shares.fixed.push_back(random.below(5) == 0 ? made.start[v] : kFree);
  }
  return made;
}

TEST(ImproveParts, lowers_the_cut_without_moving_fixed_vertices_or_making_any_part_overweight) {
  int num_lowered = 0, num_unsettled = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn problem = drawn(14, seed);
    if (problem.is_overweight(problem.start)) continue;
    std::vector<Part> part_of = problem.start;
    improve_parts(problem.graph, problem.shares, problem.spare, part_of);
    EXPECT_FALSE(problem.is_overweight(part_of));
    for (Vertex v = 0; v < 14; ++v)
      if (!problem.is_free(v)) {
        EXPECT_EQ(part_of[v], problem.start[v]);
      }
    const double cut_now = cut(problem.graph, part_of);
    EXPECT_LE(cut_now, cut(problem.graph, problem.start));
    num_lowered += cut_now < 0.9 * cut(problem.graph, problem.start) ? 1 : 0;
    bool is_settled = true;  // no vertex could lower the cut by moving to a part with room for it
    for (Vertex v = 0; v < 14; ++v)
      for (Part to = 0; to < kParts; ++to) {
        std::vector<Part> moved = part_of;
        moved[v] = to;
        if (problem.is_free(v) && !problem.is_overweight(moved))
          is_settled = is_settled && cut(problem.graph, moved) >= cut_now;
      }
    num_unsettled += is_settled ? 0 : 1;
  }
  EXPECT_LE(num_unsettled, 2);
  EXPECT_GE(num_lowered, 72);
}

TEST(ImproveParts, overweight_parts_give_vertices_away_until_no_part_is_overweight) {
  int num_relieved = 0, num_overweight = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Drawn problem = drawn(14, seed);
    problem.spare = 3;  // the weight of the heaviest vertices
    if (!problem.is_overweight(problem.start)) continue;
    std::vector<Part> part_of = problem.start;
    improve_parts(problem.graph, problem.shares, problem.spare, part_of);
    for (Vertex v = 0; v < 14; ++v)
      if (!problem.is_free(v)) {
        EXPECT_EQ(part_of[v], problem.start[v]);
      }
    ++num_overweight;
    num_relieved += problem.is_overweight(part_of) ? 0 : 1;
    const std::vector<double> before = problem.weights(problem.start),
                              after = problem.weights(part_of), limit = problem.most();
    double fullest_before = 0, fullest_after = 0;
    for (Part p = 0; p < kParts; ++p)
      if (limit[p] > 0) {
        fullest_before = std::max(fullest_before, before[p] / limit[p]);
        fullest_after = std::max(fullest_after, after[p] / limit[p]);
      }
    const bool may_get_weight = *std::ranges::min_element(limit) > 0;  // no part has the limit 0
    EXPECT_TRUE(!may_get_weight || fullest_after <= std::max(1.0, fullest_before));
  }
  EXPECT_GE(num_overweight, 150);
  EXPECT_GE(num_relieved, 250);
}

TEST(ImproveParts, vertices_that_add_the_least_to_the_cut_per_unit_of_weight_leave_first) {
  // Part 0 must give away a weight of 2. Vertex 0 (weight 2) would add 30 to the cut, vertex 1
  // (weight 2) only 20. Vertices 2 and 3 (weight 1) would add 11 each, and one of them is not
  // enough.
  Workload workload;
  for (const double weight : {2, 2, 1, 1, 4, 1}) workload.tasks.push_back({.load_s = weight});
  workload.messages = {{0, 4, 1, 40}, {1, 4, 1, 30}, {2, 4, 1, 21}, {3, 4, 1, 21},
                       {0, 5, 1, 10}, {1, 5, 1, 10}, {2, 5, 1, 10}, {3, 5, 1, 10}};
  const Graph graph = affinity_graph(workload, Affinity::bytes);
  std::vector<Part> part_of = {0, 0, 0, 0, 0, 1};
  Shares shares{{8, 3}, 0, {}};
  improve_parts(graph, shares, 0, part_of);
  EXPECT_EQ(part_of, (std::vector<Part>{0, 1, 0, 0, 0, 1}));
}

TEST(ImproveParts, comes_close_to_the_smallest_cut_of_all_divisions_within_the_limits) {
  constexpr Vertex kSize = 8;
  double sum = 0, least_sum = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn problem = drawn(kSize, seed);
    if (problem.is_overweight(problem.start)) continue;
    double least = std::numeric_limits<double>::infinity();
    std::vector<Part> part_of(kSize);
    for (int code = 0; code < 6561; ++code) {
      bool is_allowed = true;
      for (int v = 0, rest = code; v < 8; ++v, rest /= 3) {
        part_of[v] = rest % 3;
        is_allowed = is_allowed && (problem.is_free(v) || part_of[v] == problem.start[v]);
      }
      if (is_allowed && !problem.is_overweight(part_of))
        least = std::min(least, cut(problem.graph, part_of));
    }
    part_of = problem.start;
    improve_parts(problem.graph, problem.shares, problem.spare, part_of);
    EXPECT_GE(cut(problem.graph, part_of), least);
    sum += cut(problem.graph, part_of);
    least_sum += least;
  }
  EXPECT_GT(least_sum, 0);
  EXPECT_LE(sum, 1.209 * least_sum);
}

}  // namespace
}  // namespace poise::graphs
