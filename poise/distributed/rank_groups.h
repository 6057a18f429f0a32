// SPDX-License-Identifier: BSD-3-Clause
// Ranks in nested groups that follow the levels of a machine: who decides for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// Rank r is place r of the machine. On level 0 each rank is a group of its own; each further level
/// joins at most `width` consecutive groups of the level before, along the machine's levels where
/// these are narrow enough; on the last level all ranks are one group. The leader of a group is its
/// first rank. Takes 4 bytes per rank, and little more.
class RankGroups {
 public:
  RankGroups(const Machine& machine, std::uint32_t width);

  std::size_t num_levels() const { return first_.size(); }
  std::size_t top() const { return first_.size() - 1; }
  std::uint32_t num_groups(std::size_t level) const {
    return static_cast<std::uint32_t>(first_[level].size()) - 1;
  }
  /// Group g of a level is the ranks from first(level)[g] to first(level)[g + 1] - 1.
  std::span<const std::uint32_t> first(std::size_t level) const { return first_[level]; }
  std::uint32_t group_of(std::size_t level, std::uint32_t rank) const;
  std::uint32_t leader_of(std::size_t level, std::uint32_t rank) const {
    return first_[level][group_of(level, rank)];
  }
  /// The first ranks of the groups of the level below that are part of this rank's group, then the
  /// end of the group.
  std::vector<std::uint32_t> children(std::size_t level, std::uint32_t rank) const;

 private:
  std::vector<std::vector<std::uint32_t>> first_;
};

}  // namespace poise
