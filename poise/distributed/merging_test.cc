// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/merging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "poise/base/random.h"

namespace poise {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kRank = 3;

Piece piece_of(const std::vector<PieceVertex>& vertices, const std::vector<PieceEdge>& out) {
  return {.vertices = vertices, .out = out, .in = {}, .merged = {}};
}

TEST(Merging, merges_vertices_along_heavy_edges_and_ignores_edges_to_other_ranks) {
  const Piece piece = piece_of({{.weight = 1}, {.weight = 1}, {.weight = 1}, {.weight = 1}},
                               {{0, {4, 1}, 9, 9000},
                                {0, {kRank, 3}, 1, 100},
                                {1, {kRank, 0}, 1, 1},
                                {1, {2, 3}, 9, 9000},
                                {2, {kRank, 1}, 1, 100},
                                {3, {kRank, 2}, 1, 1}});
  const Merging merging = merge_piece(piece, kRank, {.max_weight = 2, .max_vertices = 2});
  EXPECT_EQ(merging.num_groups, 2u);
  EXPECT_EQ(merging.group_of[0], merging.group_of[3]);
  EXPECT_EQ(merging.group_of[1], merging.group_of[2]);
  EXPECT_NE(merging.group_of[0], merging.group_of[1]);
}

TEST(Merging, if_all_messages_are_empty_the_weight_of_an_edge_is_its_number_of_messages) {
  for (const std::uint64_t count : {1u, 9u}) {
    SCOPED_TRACE(count);
    const Piece piece = piece_of({{.weight = 1}, {.weight = 1}, {.weight = 1}, {.weight = 1}},
                                 {{0, {kRank, 1}, count, 0},
                                  {1, {kRank, 2}, 5, 0},
                                  {2, {kRank, 3}, count, 0},
                                  {3, {kRank, 0}, 5, 0}});
    const Merging merging = merge_piece(piece, kRank, {.max_weight = 2, .max_vertices = 2});
    EXPECT_EQ(merging.num_groups, 2u);
    EXPECT_EQ(merging.group_of[0] == merging.group_of[1], count == 9);
    EXPECT_EQ(merging.group_of[1] == merging.group_of[2], count == 1);
  }
}

TEST(Merging, pinned_vertices_are_merged_only_with_other_pinned_vertices) {
  const Piece piece = piece_of(
      {{.weight = 1, .is_pinned = 1}, {.weight = 1}, {.weight = 1, .is_pinned = 1}, {.weight = 1}},
      {{0, {kRank, 1}, 1, 100}, {2, {kRank, 3}, 1, 100}});
  const Merging merging = merge_piece(piece, kRank, {.max_weight = 4, .max_vertices = 1});
  EXPECT_EQ(merging.num_groups, 2u);
  EXPECT_EQ(merging.group_of[0], merging.group_of[2]);
  EXPECT_EQ(merging.group_of[1], merging.group_of[3]);
}

TEST(Merging, the_weight_limit_is_exceeded_only_to_reach_the_limit_on_the_number_of_vertices) {
  const Piece piece = piece_of({{.weight = 2}, {.weight = 2}}, {{0, {kRank, 1}, 1, 100}});
  EXPECT_EQ(merge_piece(piece, kRank, {.max_weight = 3, .max_vertices = 2}).num_groups, 2u);
  EXPECT_EQ(merge_piece(piece, kRank, {.max_weight = 3, .max_vertices = 1}).num_groups, 1u);
  EXPECT_EQ(merge_piece(piece, kRank, {.max_weight = 4, .max_vertices = 2}).num_groups, 1u);
}

TEST(Merging,
     merges_connected_graphs_down_to_few_vertices_but_never_a_pinned_with_an_unpinned_vertex) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<PieceVertex> vertices(1 + random.below(60));
    std::set<std::uint32_t> kinds;
    for (PieceVertex& vertex : vertices) {
      vertex.weight = random.uniform(0.1, 1);
      vertex.is_pinned = seed % 3 == 0 ? 0 : random.below(2);
      kinds.insert(vertex.is_pinned);
    }
    const auto any = [&] { return static_cast<std::uint32_t>(random.below(vertices.size())); };
    std::vector<PieceEdge> edges;
    for (std::uint32_t v = 0; v + 1 < vertices.size(); ++v)  // makes the graph connected
      edges.push_back({v, {kRank, v + 1}, 1, random.below(100)});
    for (std::size_t e = random.below(3) * vertices.size(); e > 0; --e) {
      const std::uint32_t from = any(), to = any();
      if (from != to) edges.push_back({from, {kRank, to}, 1, random.below(100)});
    }
    const MergeLimits limits{.max_weight = random.uniform(0.5, 4),
                             .max_vertices = 1 + random.below(40)};
    const Merging merging = merge_piece(piece_of(vertices, edges), kRank, limits);
    EXPECT_LE(merging.num_groups, std::max(limits.max_vertices, kinds.size()));
    std::vector<double> weight(merging.num_groups);
    std::vector<std::set<std::uint32_t>> is_pinned(merging.num_groups);
    std::vector<int> members(merging.num_groups);
    for (std::size_t v = 0; v < vertices.size(); ++v) {
      weight.at(merging.group_of[v]) += vertices[v].weight;
      is_pinned[merging.group_of[v]].insert(vertices[v].is_pinned);
      ++members[merging.group_of[v]];
    }
    for (std::uint32_t g = 0; g < merging.num_groups; ++g) {
      EXPECT_EQ(is_pinned[g].size(), 1u);
      if (vertices.size() <= limits.max_vertices && members[g] > 1) {
        EXPECT_LE(weight[g], limits.max_weight + 1e-12);
      }
    }
  }
}

TEST(Merging, vertices_without_neighbours_are_paired_even_if_some_vertices_are_pinned) {
  std::vector<PieceVertex> vertices(8, {.weight = 1});
  for (std::size_t v = 0; v < 8; v += 2) vertices[v].is_pinned = 1;
  const Merging two =
      merge_piece(piece_of(vertices, {}), kRank, {.max_weight = 2, .max_vertices = 4});
  EXPECT_THAT(two.group_of, ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  const Merging all =
      merge_piece(piece_of(vertices, {}), kRank, {.max_weight = 4, .max_vertices = 1});
  EXPECT_THAT(all.group_of, ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(Merging, a_merged_vertex_adds_up_loads_and_weights_and_bytes_and_numbers_of_tasks) {
  const std::vector<PieceVertex> vertices{
      {.load_s = 1, .weight = 2, .bytes = 3, .num_tasks = 4, .is_pinned = 1},
      {.load_s = 10, .weight = 20, .bytes = 30, .num_tasks = 40},
      {.load_s = 100, .weight = 200, .bytes = 300, .num_tasks = 400, .is_pinned = 1}};
  const auto merged = merged_vertices(vertices, {.group_of = {1, 0, 1}, .num_groups = 2});
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].load_s, 10);
  EXPECT_EQ(merged[1].load_s, 101);
  EXPECT_EQ(merged[1].weight, 202);
  EXPECT_EQ(merged[1].bytes, 303u);
  EXPECT_EQ(merged[1].num_tasks, 404u);
  EXPECT_EQ(merged[0].is_pinned, 0u);
  EXPECT_EQ(merged[1].is_pinned, 1u);
}

}  // namespace
}  // namespace poise
