// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/rank_groups.h"

#include <algorithm>
#include <numeric>

namespace poise {

namespace {

using Bounds = std::vector<std::uint32_t>;

/// Returns the largest number of `finer` groups inside one `coarser` group. Every boundary between
/// `coarser` groups must also be a boundary between `finer` groups.
std::size_t widest(const Bounds& finer, const Bounds& coarser) {
  std::size_t most = 0, at = 0;
  for (std::size_t g = 1; g < coarser.size(); ++g) {
    const std::size_t begin = at;
    while (finer[at] < coarser[g]) ++at;
    most = std::max(most, at - begin);
  }
  return most;
}

/// Cuts each group of `coarser` into pieces that contain at most `width` groups of `finer` each.
/// There are as few pieces as possible, and all contain nearly the same number of groups of
/// `finer`.
Bounds cut(const Bounds& finer, const Bounds& coarser, std::uint32_t width) {
  Bounds bounds{0};
  std::size_t at = 0;
  for (std::size_t g = 1; g < coarser.size(); ++g) {
    const std::size_t begin = at;
    while (finer[at] < coarser[g]) ++at;
    const std::size_t pieces = (at - begin + width - 1) / width;
    for (std::size_t i = 1; i <= pieces; ++i)
      bounds.push_back(finer[begin + (at - begin) * i / pieces]);
  }
  return bounds;
}

}  // namespace

RankGroups::RankGroups(const Machine& machine, std::uint32_t width) {
  std::vector<Bounds> coarser{{0, machine.num_places()}};  // coarsest first
  for (const Level& level : machine.levels()) coarser.push_back(level.first_place);
  Bounds singles(machine.num_places() + std::size_t{1});
  std::iota(singles.begin(), singles.end(), 0u);
  first_.push_back(std::move(singles));
  while (num_groups(top()) > 1) {
    const Bounds& now = first_.back();
    // The next level of rank groups joins groups of the level `now`, so it must have fewer groups.
    // Machine levels with at least as many groups as `now` are therefore skipped.
    while (coarser.back().size() >= now.size()) coarser.pop_back();
    const auto narrow = std::find_if(coarser.begin(), coarser.end(), [&](const Bounds& level) {
      return widest(now, level) <= width;
    });
    first_.push_back(narrow != coarser.end() ? *narrow : cut(now, coarser.back(), width));
  }
}

std::uint32_t RankGroups::group_of(std::size_t level, std::uint32_t rank) const {
  const auto& first = first_[level];
  return std::upper_bound(first.begin(), first.end(), rank) - first.begin() - 1;
}

std::vector<std::uint32_t> RankGroups::children(std::size_t level, std::uint32_t rank) const {
  const std::uint32_t group = group_of(level, rank);
  const auto& below = first_[level - 1];
  const auto begin = std::lower_bound(below.begin(), below.end(), first_[level][group]);
  const auto end = std::lower_bound(begin, below.end(), first_[level][group + 1]);
  return {begin, end + 1};
}

}  // namespace poise
