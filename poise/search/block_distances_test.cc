// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/block_distances.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(BlockDistances, gives_the_lowest_message_cost_factor_from_a_node_to_each_block_of_nodes) {
  for (const char* text : {"torus:5x3x4 core:2", "mesh:2x2 node:2 core:1", "dragonfly:9x4 core:2",
                           "torus:2x1 core:3"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    const DistanceTree tree(machine, {-1, -1});
    BlockDistances distances(tree);
    const auto num_children = static_cast<std::uint32_t>(tree.level(1).size());
    ASSERT_EQ(distances.first_child(0), 0u);
    ASSERT_EQ(distances.first_child(distances.num_blocks()), num_children);
    for (std::uint32_t from = 0; from < num_children; ++from)
      for (std::uint32_t block = 0; block < distances.num_blocks(); ++block) {
        const double bound = distances.lightest_from(from)[block];
        bool is_attained = false;
        for (auto to = distances.first_child(block); to < distances.first_child(block + 1); ++to) {
          if (to == from) continue;
          EXPECT_LE(bound, machine.latency_factor(from, to));
          is_attained = is_attained || bound == machine.latency_factor(from, to);
        }
        EXPECT_TRUE(is_attained || bound == 0);
      }
  }
}

TEST(BlockDistances, divides_1024_nodes_into_32_blocks) {
  const Machine machine = machine_from_text("torus:8x8x16 core:2");
  BlockDistances distances{DistanceTree(machine, {-1, -1})};
  EXPECT_EQ(distances.num_blocks(), 32u);
}

}  // namespace
}  // namespace poise
