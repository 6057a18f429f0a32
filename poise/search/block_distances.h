// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on message weights, per block of nodes, for networks that are not trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poise/search/distance_tree.h"

namespace poise {

/// Lower bounds on the weights of messages between children of the root of the distance tree (such
/// as the nodes). The children are divided into blocks of consecutive children, about as many
/// blocks as there are children per block. Each bound is the smallest weight of a message from one
/// sender to any other child in a block.
///
/// The bounds are valid on any network. They are tight on a torus, where the children of a block
/// are neighbours. The bounds for a sender are computed when they are first requested, in
/// O(children) time and O(sqrt(children)) memory.
class BlockDistances {
 public:
  explicit BlockDistances(const DistanceTree& tree);

  std::uint32_t num_blocks() const { return num_blocks_; }
  /// Block b holds the children [first_child(b), first_child(b + 1)).
  std::uint32_t first_child(std::uint32_t block) const;

  /// Returns for each block the smallest weight of a message from `child` to another child in the
  /// block, or 0 if there is no other child in the block.
  const std::vector<double>& lightest_from(std::uint32_t child);

 private:
  const DistanceTree* tree_;
  std::uint32_t num_children_, block_size_, num_blocks_;
  std::vector<std::vector<double>> lightest_;  // per sender: its bounds; empty: not computed yet
};

}  // namespace poise
