// SPDX-License-Identifier: BSD-3-Clause
// Finds the least busy of many places, whose busy times change.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// A tournament tree over places 0 to n - 1 by busy seconds, which must be at least 0. Each inner
/// node stores the least busy place below it; of equally busy places, the one with the lower id. At
/// most 16 bytes per place.
class LeastBusy {
 public:
  explicit LeastBusy(std::vector<double> busy_s);

  double busy_s(PlaceId p) const { return busy_s_[p]; }
  std::span<const double> busy_s() const { return {busy_s_.data(), num_places_}; }

  /// The least busy place of all. O(1).
  PlaceId least() const { return winner_[1]; }
  /// Returns the least busy of the places first to last - 1. The range must not be empty. O(log n).
  PlaceId least_in(PlaceId first, PlaceId last) const;
  /// Returns the lowest place in [first, last) for which is_idle_enough(busy_s) is true, or `last`
  /// if there is none. If is_idle_enough() is true for a time, it must be true for all smaller
  /// times. O(log n).
  template <typename IsIdleEnough>
  PlaceId next_in(PlaceId first, PlaceId last, IsIdleEnough is_idle_enough) const;
  /// O(log n).
  void set(PlaceId p, double busy_s);
  void add(PlaceId p, double seconds) { set(p, busy_s_[p] + seconds); }

 private:
  std::size_t num_places_;
  std::size_t num_leaves_;      // a power of two; leaves without a place never win
  std::vector<double> busy_s_;  // per leaf
  /// The winner, the less busy place, at each node of the tournament tree. Node i has the children
  /// 2 i and 2 i + 1; the leaves start at num_leaves_.
  std::vector<PlaceId> winner_;
};

template <typename IsIdleEnough>
PlaceId LeastBusy::next_in(PlaceId first, PlaceId last, IsIdleEnough is_idle_enough) const {
  if (first >= last) return last;
  const auto is_worth_trying = [&](std::size_t node) {
    return is_idle_enough(busy_s_[winner_[node]]);
  };
  std::size_t node = num_leaves_ + first;
  while (!is_worth_trying(node)) {
    // Skips this subtree: goes on to the largest subtree that begins at the next place.
    node = (node + 1) >> std::countr_zero(node + 1);
    if (node == 1) return last;
  }
  while (node < num_leaves_) {
    node *= 2;
    if (!is_worth_trying(node)) ++node;
  }
  return std::min(static_cast<PlaceId>(node - num_leaves_), last);
}

}  // namespace poise
