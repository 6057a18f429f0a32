// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/block_distances.h"

#include <algorithm>
#include <limits>

namespace poise {

BlockDistances::BlockDistances(const DistanceTree& tree)
    : tree_(&tree),
      num_children_(tree.num_levels() > 1 ? tree.level(1).size() : 0),
      block_size_(1),
      lightest_(num_children_) {
  while (block_size_ * block_size_ < num_children_) block_size_ *= 2;
  num_blocks_ = (num_children_ + block_size_ - 1) / block_size_;
}

std::uint32_t BlockDistances::first_child(std::uint32_t block) const {
  return std::min(block * block_size_, num_children_);
}

const std::vector<double>& BlockDistances::lightest_from(std::uint32_t child) {
  std::vector<double>& lightest = lightest_[child];
  if (!lightest.empty()) return lightest;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  lightest.assign(num_blocks_, kNone);
  for (std::uint32_t to = 0; to < num_children_; ++to) {
    double& bound = lightest[to / block_size_];
    if (to != child) bound = std::min(bound, tree_->weight(1, child, to));
  }
  for (double& bound : lightest)
    if (bound == kNone) bound = 0;
  return lightest;
}

}  // namespace poise
