// The least busy of many places while their times change.
#pragma once

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
  /// O(log n).
  void set(PlaceId p, double busy_s);
  void add(PlaceId p, double seconds) { set(p, busy_s_[p] + seconds); }

 private:
  std::size_t num_places_;
  std::size_t num_leaves_;       // a power of two; the leaves past the places are never least
  std::vector<double> busy_s_;   // per leaf
  std::vector<PlaceId> winner_;  // node i has the children 2 i and 2 i + 1, from num_leaves_ leaves
};

}  // namespace poise
