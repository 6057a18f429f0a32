// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/rank_distances.h"

#include "poise/partition/tuning.h"

namespace poise {

RankDistances::RankDistances(const Machine& machine, Distance distance)
    : machine_(machine), distance_(distance), num_nodes_(machine.num_nodes()) {
  for (PlaceId p = 0; p < machine.num_places(); ++p) node_of_.push_back(machine.node_of_place(p));
  for (NodeId node = 0; node < num_nodes_; ++node)
    first_place_.push_back(machine.first_place(machine.first_domain(node)));
  size_ = num_nodes_ > 1 ? first_place_[1] : machine.num_places();
  if (num_nodes_ <= kPartitionTuning.max_tabulated_nodes) {
    between_.resize(std::size_t{num_nodes_} * num_nodes_);
    for (NodeId a = 0; a < num_nodes_; ++a)
      for (NodeId b = 0; b < a; ++b)
        between_[std::size_t{a} * num_nodes_ + b] = between_[std::size_t{b} * num_nodes_ + a] =
            static_cast<float>(exact(first_place_[a], first_place_[b]));
  }
  if (size_ > kPartitionTuning.max_tabulated_places || !nodes_are_alike()) return;
  for (PlaceId a = 0; a < size_; ++a)
    for (PlaceId b = 0; b < size_; ++b)
      inside_.push_back(a == b ? 0 : static_cast<float>(exact(a, b)));
}

/// True if all nodes are alike: of one kind, with groups of the same sizes on every level.
bool RankDistances::nodes_are_alike() const {
  if (size_ * num_nodes_ != machine_.num_places()) return false;
  for (const std::uint32_t kind : machine_.parts().kind_of_node)
    if (kind != machine_.parts().kind_of_node[0]) return false;
  for (PlaceId p = size_; p < machine_.num_places(); ++p) {
    if (node_of_[p] != p / size_) return false;
    if (p % size_ == 0) continue;
    if (machine_.common_level(p - 1, p) != machine_.common_level(p % size_ - 1, p % size_) ||
        machine_.domain_of(p) - machine_.domain_of(p - 1) !=
            machine_.domain_of(p % size_) - machine_.domain_of(p % size_ - 1))
      return false;
  }
  return true;
}

}  // namespace poise
