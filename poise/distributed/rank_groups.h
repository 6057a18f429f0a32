// SPDX-License-Identifier: BSD-3-Clause
// Nested groups of ranks that follow the levels of a machine. The leader of a group is the rank
// that decides for its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// Nested groups of ranks; rank r is place r of the machine. On level 0 each rank is a group. Each
/// further level joins at most `width` consecutive groups of the level below. Groups of the machine
/// (such as nodes and racks) that are small enough become groups of ranks. On the last level all
/// ranks are one group. The leader of a group is its first rank. Takes little more than 4 bytes per
/// rank.
class RankGroups {
 public:
  RankGroups(const Machine& machine, std::uint32_t width);

  std::size_t num_levels() const { return first_.size(); }
  std::size_t top() const { return first_.size() - 1; }
  std::uint32_t num_groups(std::size_t level) const { return first_[level].size() - 1; }
  /// Group g of a level contains the ranks first(level)[g] to first(level)[g + 1] - 1.
  std::span<const std::uint32_t> first(std::size_t level) const { return first_[level]; }
  std::uint32_t group_of(std::size_t level, std::uint32_t rank) const;
  std::uint32_t leader_of(std::size_t level, std::uint32_t rank) const {
    return first_[level][group_of(level, rank)];
  }
  /// Returns the first rank of each child group of the rank's group; the children are its groups of
  /// the level below. The last entry is the end of the rank's group: its last rank + 1.
  std::vector<std::uint32_t> children(std::size_t level, std::uint32_t rank) const;

 private:
  std::vector<std::vector<std::uint32_t>> first_;
};

}  // namespace poise
