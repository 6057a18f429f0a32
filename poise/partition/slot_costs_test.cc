// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/slot_costs.h"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "poise/base/random.h"

namespace poise {
namespace {

using graphs::Graph;
using graphs::Vertex;

constexpr Vertex kSize = 12;

Graph random_graph(Random& random) {
  Workload workload;
  workload.tasks.resize(kSize);
  for (TaskId a = 0; a < kSize; ++a)
    for (TaskId b = 0; b < a; ++b)
      if (random.below(2) == 0) workload.messages.push_back({a, b, 1, 1 + random.below(100)});
  return graphs::affinity_graph(workload, graphs::Affinity::bytes);
}

/// Four classes of three slots each, in a row: neighbouring classes have distance 5.
SlotClasses row_of_classes() {
  SlotClasses classes;
  classes.size = 4;
  for (Slot slot = 0; slot < kSize; ++slot) classes.class_of.push_back(slot / 3);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) classes.distances.push_back(a == b ? 2 : 5 * std::abs(a - b));
  return classes;
}

/// The sum over all edges of affinity times distance, from the definition.
double sum_of(const Graph& graph, const SlotClasses& classes, const std::vector<Slot>& slot_of) {
  double twice = 0;
  for (Vertex v = 0; v < kSize; ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      twice += graph.affinity[e] * classes.distance(classes.class_of[slot_of[v]],
                                                    classes.class_of[slot_of[graph.to[e]]]);
  return twice / 2;
}

TEST(SlotCosts, predicts_by_how_much_a_swap_changes_the_total_cost_of_all_edges) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = random_graph(random);
    const SlotClasses classes = row_of_classes();
    std::vector<Slot> slot_of(kSize);
    std::iota(slot_of.begin(), slot_of.end(), 0);
    SlotCosts costs(graph, classes, slot_of);
    for (int i = 0; i < 100; ++i) {
      const Vertex v = random.below(kSize), u = random.below(kSize);
      if (v == u) continue;
      const double before = sum_of(graph, classes, slot_of);
      const double change = costs.change(v, u, graphs::affinity_between(graph, v, u));
      costs.exchange(v, u);
      std::swap(slot_of[v], slot_of[u]);
      EXPECT_DOUBLE_EQ(change, sum_of(graph, classes, slot_of) - before);
      EXPECT_EQ(costs.at(v), classes.class_of[slot_of[v]]);
    }
  }
}

TEST(SlotCosts, the_costs_of_all_vertices_add_up_to_twice_the_sum_over_edges) {
  Random random(1);
  const Graph graph = random_graph(random);
  const SlotClasses classes = row_of_classes();
  std::vector<Slot> slot_of(kSize);
  std::iota(slot_of.rbegin(), slot_of.rend(), 0);
  const SlotCosts costs(graph, classes, slot_of);
  double twice = 0;
  for (Vertex v = 0; v < kSize; ++v) twice += costs.cost(v, costs.at(v));
  EXPECT_DOUBLE_EQ(twice, 2 * sum_of(graph, classes, slot_of));
}

TEST(SlotCosts, after_any_exchange_the_updated_costs_equal_costs_computed_from_the_definition) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = random_graph(random);
    const SlotClasses classes = row_of_classes();
    std::vector<Slot> slot_of(kSize);
    std::iota(slot_of.begin(), slot_of.end(), 0);
    SlotCosts costs(graph, classes, slot_of);
    for (int i = 0; i < 50; ++i) {
      const Vertex v = random.below(kSize), u = random.below(kSize);
      const SlotClass a = costs.at(v), b = costs.at(u);
      EXPECT_EQ(costs.class_at(slot_of[v]), a);
      // The exchange changes the costs of those classes whose distances from a and from b differ.
      std::vector<SlotClass> changed;
      for (SlotClass c = 0; c < 4; ++c)
        if (classes.distance(a, c) != classes.distance(b, c)) changed.push_back(c);
      const std::size_t visited = changed.empty() ? 0
                                                  : (graph.degree(v) + graph.degree(u)) *
                                                        (changed.back() - changed.front() + 1);
      EXPECT_EQ(costs.exchange(v, u), visited);
      std::swap(slot_of[v], slot_of[u]);
      for (Vertex w = 0; w < kSize; ++w)
        for (SlotClass c = 0; c < 4; ++c) {
          double cost = 0;
          for (std::size_t e = graph.first[w]; e < graph.first[w + 1]; ++e)
            cost += graph.affinity[e] * classes.distance(classes.class_of[slot_of[graph.to[e]]], c);
          EXPECT_DOUBLE_EQ(costs.cost(w, c), cost) << w << " in class " << c;
          EXPECT_DOUBLE_EQ(costs.moved(w, c), cost - costs.cost(w, costs.at(w)));
        }
    }
  }
}

}  // namespace
}  // namespace poise
