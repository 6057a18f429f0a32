// The least busy of many places while their times change.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// A tournament of places 0 … n - 1 by busy seconds, which are at least 0: each inner node knows
/// the least busy place below it, the lower id on ties. Holds 16 bytes per place at most.
class LeastBusy {
 public:
  explicit LeastBusy(std::vector<double> busy_s);

  double busy_s(PlaceId p) const { return busy_s_[p]; }
  std::span<const double> busy_s() const { return {busy_s_.data(), num_places_}; }

  /// O(1).
  PlaceId least() const { return winner_[1]; }
  /// The least busy of first, …, last - 1, which must not be empty. O(log n).
  PlaceId least_in(PlaceId first, PlaceId last) const;
  /// The lowest of first, …, last - 1 that is idle enough, or last: is_idle_enough(busy_s) must
  /// hold for all lesser times if it holds for one. O(log n).
  template <typename IsIdleEnough>
  PlaceId next_in(PlaceId first, PlaceId last, IsIdleEnough is_idle_enough) const;
  /// O(log n).
  void set(PlaceId p, double busy_s);
  void add(PlaceId p, double seconds) { set(p, busy_s_[p] + seconds); }

 private:
  std::size_t num_places_;
  std::size_t num_leaves_;       // a power of two; the leaves past the places are never least
  std::vector<double> busy_s_;   // per leaf
  std::vector<PlaceId> winner_;  // node i has the children 2 i and 2 i + 1, from num_leaves_ leaves
};

template <typename IsIdleEnough>
PlaceId LeastBusy::next_in(PlaceId first, PlaceId last, IsIdleEnough is_idle_enough) const {
  if (first >= last) return last;
  const auto is_worth_a_look = [&](std::size_t node) {
    return is_idle_enough(busy_s_[winner_[node]]);
  };
  std::size_t node = num_leaves_ + first;
  while (!is_worth_a_look(node)) {
    // On to the largest subtree that starts where this one ends; the root starts where all end.
    node = (node + 1) >> std::countr_zero(node + 1);
    if (node == 1) return last;
  }
  while (node < num_leaves_) {
    node *= 2;
    if (!is_worth_a_look(node)) ++node;
  }
  return std::min(static_cast<PlaceId>(node - num_leaves_), last);
}

}  // namespace poise
