// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/graph.h"

#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "poise/base/random.h"

namespace poise::graphs {
namespace {

/// The affinity of each pair of vertices with an edge, in both orders.
using Edges = std::map<std::pair<Vertex, Vertex>, double>;

Edges edges_of(const Graph& graph) {
  Edges edges;
  EXPECT_EQ(graph.first.size(), graph.num_vertices() + 1u);
  EXPECT_EQ(graph.first[graph.num_vertices()], graph.to.size());
  EXPECT_EQ(graph.affinity.size(), graph.to.size());
  for (Vertex v = 0; v < graph.num_vertices(); ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      EXPECT_TRUE(edges.emplace(std::pair(v, graph.to[e]), graph.affinity[e]).second)
          << v << " and " << graph.to[e] << " are joined twice";
  return edges;
}

/// Messages between random tasks. Some pairs have several messages, some tasks send to themselves.
Workload drawn(Random& random, bool has_bytes) {
  Workload workload;
  const TaskId size = 1 + random.below(12);
  for (TaskId t = 0; t < size; ++t) workload.tasks.push_back({.load_s = random.uniform()});
  for (std::uint64_t m = random.below(40); m > 0; --m)
    workload.messages.push_back({static_cast<TaskId>(random.below(size)),
                                 static_cast<TaskId>(random.below(size)), 1 + random.below(9),
                                 has_bytes ? 1 + random.below(100) : 0});
  return workload;
}

TEST(Graph, the_affinity_of_two_tasks_is_the_sum_of_their_bytes_or_messages_in_both_directions) {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const bool has_bytes : {true, false})
      for (const Affinity affinity : {Affinity::bytes, Affinity::messages}) {
        SCOPED_TRACE(testing::Message() << seed << has_bytes << static_cast<int>(affinity));
        Random random(seed);
        const Workload workload = drawn(random, has_bytes);
        Edges expected;
        for (const Message& m : workload.messages) {
          if (m.from == m.to) continue;
          const double more = has_bytes && affinity == Affinity::bytes ? m.bytes : m.count;
          expected[{m.from, m.to}] += more;
          expected[{m.to, m.from}] += more;
        }
        const Graph graph = affinity_graph(workload, affinity);
        EXPECT_EQ(edges_of(graph), expected);
        for (Vertex v = 0; v < graph.num_vertices(); ++v) {
          EXPECT_EQ(graph.weight[v], workload.tasks[v].load_s);
          for (Vertex u = 0; u < graph.num_vertices(); ++u) {
            const auto edge = expected.find({v, u});
            EXPECT_EQ(affinity_between(graph, v, u), edge == expected.end() ? 0 : edge->second);
          }
        }
      }
}

TEST(Graph, groups_list_their_members_in_ascending_order) {
  const std::vector<Vertex> group_of = {2, 0, 2, 3, 0, 2};
  const Groups groups = arrange(group_of, 5);
  const std::vector<std::vector<Vertex>> members = {{1, 4}, {}, {0, 2, 5}, {3}, {}};
  for (Vertex g = 0; g < 5; ++g) {
    EXPECT_EQ(std::vector<Vertex>(groups.of(g).begin(), groups.of(g).end()), members[g]) << g;
    for (Vertex i = 0; i < members[g].size(); ++i) EXPECT_EQ(groups.position[members[g][i]], i);
  }
}

TEST(Graph, contracting_groups_adds_up_weights_and_affinities_and_drops_edges_inside_a_group) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = affinity_graph(drawn(random, true), Affinity::bytes);
    const Vertex num_groups = 1 + random.below(5);
    std::vector<Vertex> group_of;
    std::vector<double> weight(num_groups, 0);
    for (Vertex v = 0; v < graph.num_vertices(); ++v) {
      group_of.push_back(random.below(num_groups));
      weight[group_of[v]] += graph.weight[v];
    }
    Edges expected;
    for (const auto& [ends, affinity] : edges_of(graph))
      if (group_of[ends.first] != group_of[ends.second])
        expected[{group_of[ends.first], group_of[ends.second]}] += affinity;
    const Graph coarse = contract(graph, group_of, num_groups);
    EXPECT_EQ(edges_of(coarse), expected);
    EXPECT_EQ(coarse.weight, weight);
  }
}

TEST(Graph, a_subgraph_of_a_group_keeps_the_weights_of_members_and_the_edges_between_members) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = affinity_graph(drawn(random, true), Affinity::bytes);
    std::vector<Vertex> group_of;
    for (Vertex v = 0; v < graph.num_vertices(); ++v) group_of.push_back(random.below(3));
    const Groups groups = arrange(group_of, 3);
    for (Vertex g = 0; g < 3; ++g) {
      const Graph part = subgraph(graph, groups, g);
      const auto members = groups.of(g);
      ASSERT_EQ(part.num_vertices(), members.size());
      Edges expected;
      for (Vertex i = 0; i < members.size(); ++i) {
        EXPECT_EQ(part.weight[i], graph.weight[members[i]]);
        for (Vertex j = 0; j < members.size(); ++j)
          if (const double affinity = affinity_between(graph, members[i], members[j]); affinity > 0)
            expected[{i, j}] = affinity;
      }
      EXPECT_EQ(edges_of(part), expected);
    }
  }
}

TEST(Graph, padding_appends_vertices_without_edges) {
  Random random(3);
  Graph graph = affinity_graph(drawn(random, true), Affinity::bytes);
  const Edges before = edges_of(graph);
  const std::vector<double> weights = graph.weight;
  pad(graph, 20, 0.5);
  EXPECT_EQ(edges_of(graph), before);
  ASSERT_EQ(graph.num_vertices(), 20u);
  for (Vertex v = 0; v < 20; ++v)
    EXPECT_EQ(graph.weight[v], v < weights.size() ? weights[v] : 0.5) << v;
}

}  // namespace
}  // namespace poise::graphs
