// Lower bounds of what messages weigh where no tree explains the distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poise/search/distance_tree.h"

namespace poise {

/// The children of the whole machine in about as many blocks of successive ones as a block has
/// children, and the least that a message from a child to another child in a block weighs.
///
/// On a torus the children of a block are neighbours, so the bounds are good; on any network they
/// hold. A sender's bounds are computed when first asked for: O(children) time, O(sqrt(children))
/// memory each.
class BlockDistances {
 public:
  explicit BlockDistances(const DistanceTree& tree);

  std::uint32_t num_blocks() const { return num_blocks_; }
  /// Its children are [first_child(b), first_child(b + 1)).
  std::uint32_t first_child(std::uint32_t block) const;

  /// Per block; 0 for a block without another child than the sender.
  const std::vector<double>& lightest_from(std::uint32_t child);

 private:
  const DistanceTree* tree_;
  std::uint32_t num_children_, block_size_, num_blocks_;
  std::vector<std::vector<double>> lightest_;  // per sender; empty: not asked for yet
};

}  // namespace poise
