// SPDX-License-Identifier: BSD-3-Clause
// Recognizes pairs of places that have been examined before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// Records the pairs of places that have been examined. All messages from one place to another wait
/// for the same resources, so each pair need be examined only once.
class NewPairs {
 public:
  /// Keeps no table of pairs if it would have more than `entries` entries. `entries` is the number
  /// of tasks, arcs and places together; the caller visits all of these anyway.
  NewPairs(PlaceId num_places, std::size_t entries) : num_places_(num_places) {
    if (num_places_ * num_places_ <= entries) is_known_.assign(num_places_ * num_places_, 0);
  }

  /// Records the pair. Returns false if the pair was recorded before, otherwise true. Without a
  /// table, always returns true.
  bool insert(PlaceId from, PlaceId to) {
    if (is_known_.empty()) return true;
    std::uint8_t& is_known = is_known_[from * num_places_ + to];
    if (is_known != 0) return false;
    is_known = 1;
    return true;
  }

 private:
  const std::size_t num_places_;
  std::vector<std::uint8_t> is_known_;  // not bits: faster
};

}  // namespace poise
