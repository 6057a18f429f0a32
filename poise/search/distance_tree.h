// SPDX-License-Identifier: BSD-3-Clause
// The machine as a tree of groups of places, with the weight of a message between any two groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// Weights of a received message: same_place if sender and receiver are at the same place,
/// same_domain if they are at different places of one memory domain. A message from another domain
/// has as its weight the latency factor between the two domains.
struct MessageWeights {
  double same_place, same_domain;
  /// If true, same_domain is not used. Instead, a message inside a domain has the weight f - 2,
  /// where f is the latency factor of the smallest cache shared by the two places. If they share no
  /// cache, f is 1 and the weight is -1.
  bool caches = false;
};

/// A tree of groups of places. Level 0 is the whole machine; each group is divided into its
/// children on the next level. A message between two children of a group has the same weight for
/// all places inside them. The leaves are memory domains, or single places if messages inside a
/// domain differ in weight.
///
/// O(places * levels) time and memory. On a network that is not a tree (torus, matrix) all nodes
/// are children of one group with is_uniform == false; a matrix takes O(nodes^2) time.
class DistanceTree {
 public:
  struct Group {
    PlaceId first = 0, last = 0;                    // the group's places are [first, last)
    std::uint32_t first_child = 0, last_child = 0;  // the group's children on the next level
    /// The weight of a message between different children of this group. If the weights differ,
    /// this is the smallest.
    double weight = 0;
    bool is_uniform = true;  // all messages between different children have equal weights
    double lightest = 0;     // lower bound on the weight of a message inside the group
  };

  DistanceTree(const Machine& machine, MessageWeights weights);

  /// Level 0 has one group; the groups of the last level are the leaves.
  std::size_t num_levels() const { return levels_.size(); }
  std::span<const Group> level(std::size_t l) const { return levels_[l]; }

  std::uint32_t leaf_of(PlaceId p) const { return leaf_of_[p]; }
  std::uint32_t group_of_leaf(std::size_t level, std::uint32_t leaf) const {
    return group_of_leaf_[level][leaf];
  }

  /// Weight of a message between two groups `from` and `to` of a level that have the same parent.
  double weight(std::size_t level, std::uint32_t from, std::uint32_t to) const;
  /// Weight of a message inside a leaf.
  double leaf_weight() const { return weights_.same_place; }

 private:
  void add_level(const std::vector<PlaceId>& starts);
  void find_leaves();
  void find_lightest();
  void weigh_children(std::size_t level, Group& group, bool nodes_form_a_tree) const;

  const Machine* machine_;
  MessageWeights weights_;
  std::vector<std::vector<Group>> levels_;
  std::vector<std::uint32_t> leaf_of_;                     // per place
  std::vector<std::vector<std::uint32_t>> group_of_leaf_;  // per level
};

}  // namespace poise
