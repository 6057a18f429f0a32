// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/pieces.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <utility>

#include "poise/base/random.h"
#include "poise/distributed/simulated_testing.h"

namespace poise {
namespace {

using testing::ElementsAre;

PieceEdge random_edge(Random& random) {
  return {
      static_cast<std::uint32_t>(random.below(5)),
      {static_cast<std::uint32_t>(random.below(3)), static_cast<std::uint32_t>(random.below(5))},
      random.below(10),
      random.below(1000)};
}

TEST(Pieces, every_rank_can_look_up_the_entries_of_all_tables) {
  SimulatedRanks simulated(4);
  const auto entry = [](VertexName name) { return 100 * name.rank + 7 * name.index; };
  simulated.run([&](const poise_communication& table) {
    Communicator ranks(table);
    Random random(table.rank);
    std::vector<std::uint32_t> own;
    for (std::uint32_t i = 0; i < 10 + table.rank; ++i) own.push_back(entry({table.rank, i}));
    std::vector<VertexName> names;
    std::vector<std::uint32_t> expected;
    for (std::size_t i = random.below(50); i > 0; --i) {
      const auto rank = static_cast<std::uint32_t>(random.below(4));
      names.push_back({rank, static_cast<std::uint32_t>(random.below(10 + rank))});
      expected.push_back(entry(names.back()));
    }
    EXPECT_EQ(ask_owners(ranks, names, own), expected);
  });
}

TEST(Pieces, a_rank_that_is_asked_for_a_vertex_beyond_its_table_fails) {
  SimulatedRanks simulated(2);
  std::vector<std::string> told(2);
  simulated.run([&](const poise_communication& table) {
    Communicator ranks(table);
    try {
      agreed(ranks, [&] { ask_owners(ranks, {{1, 2 + table.rank}}, {8, 9, 10}); });
    } catch (const Error& error) {
      told[table.rank] = error.what();
    }
  });
  EXPECT_THAT(
      told[1],
      testing::HasSubstr("rank 1 asks this rank for vertex 3, but this rank has only 3 vertices"));
}

TEST(Pieces, each_vertex_at_the_other_end_of_an_edge_is_named_once_in_sorted_order) {
  const std::vector<VertexName> names =
      names_of({{0, {2, 1}}, {0, {1, 9}}, {1, {2, 1}}, {1, {1, 0}}});
  EXPECT_THAT(names, ElementsAre(VertexName{1, 0}, VertexName{1, 9}, VertexName{2, 1}));
  for (std::uint32_t i = 0; i < names.size(); ++i) EXPECT_EQ(index_of(names, names[i]), i);
}

TEST(Pieces, parallel_edges_become_one_edge_with_the_sum_of_their_messages) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<PieceEdge> edges;
    for (std::size_t i = random.below(60); i > 0; --i) edges.push_back(random_edge(random));
    std::map<std::pair<std::uint32_t, VertexName>, std::pair<std::uint64_t, std::uint64_t>> sums;
    for (const PieceEdge& edge : edges) {
      auto& [count, bytes] = sums[{edge.own, edge.other}];
      count += edge.count;
      bytes += edge.bytes;
    }
    merge_parallel(edges);
    ASSERT_EQ(edges.size(), sums.size());
    auto next = sums.begin();
    for (const PieceEdge& edge : edges) {
      EXPECT_EQ(std::pair(edge.own, edge.other), next->first);
      EXPECT_EQ(std::pair(edge.count, edge.bytes), next->second);
      ++next;
    }
  }
}

TEST(Pieces,
     keeps_the_most_expensive_edges_and_divides_the_messages_of_dropped_edges_among_kept_edges) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const double message_s = random.uniform(), byte_s = random.uniform() / 100;
    const auto cost_s = [&](const PieceEdge& edge) {
      return message_s * edge.count + byte_s * edge.bytes;
    };
    std::vector<PieceEdge> edges;
    for (std::size_t i = random.below(30); i > 0; --i) edges.push_back(random_edge(random));
    merge_parallel(edges);
    std::vector<PieceEdge> expected = edges, found = edges;
    const std::size_t most = 1 + random.below(20);
    std::ranges::sort(expected, std::greater<>(), cost_s);
    double all_s = 0, kept_s = 0;
    for (const PieceEdge& edge : expected) all_s += cost_s(edge);
    expected.resize(std::min(most, expected.size()));
    for (const PieceEdge& edge : expected) kept_s += cost_s(edge);
    keep_heaviest(found, 1, most, message_s, byte_s);
    ASSERT_EQ(found.size(), expected.size());
    std::ranges::sort(expected, {}, [](const PieceEdge& e) { return std::pair(e.own, e.other); });
    std::ranges::sort(found, {}, [](const PieceEdge& e) { return std::pair(e.own, e.other); });
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].own, expected[i].own);
      EXPECT_EQ(found[i].other, expected[i].other);
      const double times = expected.size() < edges.size() ? all_s / kept_s : 1;
      EXPECT_NEAR(found[i].count, times * expected[i].count, 0.5 + 1e-9);
      EXPECT_NEAR(found[i].bytes, times * expected[i].bytes, 0.5 + 1e-9);
    }
    const std::size_t all = edges.size();
    keep_heaviest(edges, 1, 0, message_s, byte_s);
    EXPECT_EQ(edges.size(), all) << "0 means that there is no limit";
  }
}

TEST(Pieces, if_all_edges_cost_the_same_both_directions_of_an_edge_are_kept_or_both_are_dropped) {
  constexpr std::uint32_t kRank = 2, kVertices = 20;
  std::vector<PieceEdge> edges;
  for (std::uint32_t v = 0; v < kVertices; ++v) {
    const std::uint32_t next = (v + 1) % kVertices;
    edges.push_back({v, {kRank, next}, 1, 8});
    edges.push_back({next, {kRank, v}, 1, 8});
  }
  keep_heaviest(edges, kRank, kVertices, 1, 1);
  ASSERT_EQ(edges.size(), kVertices);
  std::set<std::pair<std::uint32_t, std::uint32_t>> kept;
  std::uint32_t in_order = 0;
  for (const PieceEdge& edge : edges) {
    kept.emplace(edge.own, edge.other.index);
    in_order += edge.own < kVertices / 2;
    EXPECT_EQ(edge.count, 2u);
    EXPECT_EQ(edge.bytes, 16u);
  }
  for (const auto& [from, to] : kept) EXPECT_TRUE(kept.contains({to, from}));
  EXPECT_LT(in_order, kVertices - 2) << "a hash decides, not the number of the vertex";
}

TEST(Pieces, edges_without_messages_stay_without_messages) {
  std::vector<PieceEdge> edges{{0, {0, 1}, 0, 0}, {1, {0, 2}, 0, 0}};
  keep_heaviest(edges, 0, 1, 1, 1);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].count, 0u);
  EXPECT_EQ(edges[0].bytes, 0u);
}

}  // namespace
}  // namespace poise
