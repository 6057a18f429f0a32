// The machine as the messages of a task see it: a tree of groups of places, and what a message
// weighs between two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// What one message received from the same place or the same domain weighs; from another domain it
/// weighs the NUCO factor.
struct MessageWeights {
  double same_place, same_domain;
};

/// Levels of groups: the whole machine, each group split into its children on the next level. A
/// message between two children of a group weighs what these two say, whatever the places inside.
/// The leaves are domains, or places where the weights tell a place from others of its domain.
///
/// O(places * levels) to build and to hold. Nodes whose distances no tree explains (a torus, a
/// matrix) are all children of one group that is not uniform; O(nodes^2) to build for a matrix.
class DistanceTree {
 public:
  struct Group {
    PlaceId first = 0, last = 0;                    // its places are [first, last)
    std::uint32_t first_child = 0, last_child = 0;  // likewise, on the next level
    double weight = 0;                              // of a message between different children …
    bool is_uniform = true;                         // … or, if not uniform, of the lightest
    double lightest = 0;  // no message between two of its places weighs less
  };

  DistanceTree(const Machine& machine, MessageWeights weights);

  /// Level 0 holds one group; the last level, the leaves.
  std::size_t num_levels() const { return levels_.size(); }
  std::span<const Group> level(std::size_t l) const { return levels_[l]; }

  std::uint32_t leaf_of(PlaceId p) const { return leaf_of_[p]; }
  std::uint32_t group_of_leaf(std::size_t level, std::uint32_t leaf) const {
    return group_of_leaf_[level][leaf];
  }

  /// A message from one group of a level to another with the same parent.
  double weight(std::size_t level, std::uint32_t from, std::uint32_t to) const;
  /// A message inside a leaf.
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
