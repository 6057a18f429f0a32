// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/merging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Merging, an_edge_is_heavier_the_more_messages_it_has_if_all_messages_are_empty) {
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

TEST(Merging, a_merged_vertex_exceeds_the_weight_limit_only_if_too_many_would_be_left_otherwise) {
  const Piece piece = piece_of({{.weight = 2}, {.weight = 2}}, {{0, {kRank, 1}, 1, 100}});
  EXPECT_EQ(merge_piece(piece, kRank, {.max_weight = 3, .max_vertices = 2}).num_groups, 2u);
  EXPECT_EQ(merge_piece(piece, kRank, {.max_weight = 3, .max_vertices = 1}).num_groups, 1u);
  EXPECT_EQ(merge_piece(piece, kRank, {.max_weight = 4, .max_vertices = 2}).num_groups, 1u);
}

TEST(Merging, a_merged_vertex_has_the_sums_of_its_vertices) {
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
