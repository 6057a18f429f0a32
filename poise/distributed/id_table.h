// SPDX-License-Identifier: BSD-3-Clause
// A hash table that numbers ids in the order of their insertion. Ids cannot be deleted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "poise/base/random.h"

namespace poise {

/// Uses open addressing. At most two thirds of the slots are full, and at least one third unless
/// fewer ids were inserted than expected. So the table takes 18 to 36 bytes per id.
class IdTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  explicit IdTable(std::size_t expected = 0) { resize(expected); }

  std::uint32_t size() const { return size_; }

  /// Returns the number of the id, or kNone if it is not in the table.
  std::uint32_t find(std::uint64_t id) const { return numbers_[slot(id)]; }

  /// Returns the number of the id. An id that is not in the table is inserted and gets the next
  /// number.
  std::uint32_t insert(std::uint64_t id) {
    std::size_t at = slot(id);
    if (numbers_[at] != kNone) return numbers_[at];
    if (3 * (size_ + std::size_t{1}) > 2 * ids_.size()) {
      grow();
      at = slot(id);
    }
    ids_[at] = id;
    return numbers_[at] = size_++;
  }

 private:
  std::size_t slot(std::uint64_t id) const {
    std::size_t at = mix(id) & (ids_.size() - 1);
    while (numbers_[at] != kNone && ids_[at] != id) at = (at + 1) & (ids_.size() - 1);
    return at;
  }

  void resize(std::size_t expected) {
    std::size_t size = 8;
    while (2 * size < 3 * (expected + 1)) size *= 2;
    ids_.assign(size, 0);
    numbers_.assign(size, kNone);
  }

  void grow() {
    const std::vector<std::uint64_t> ids = std::move(ids_);
    const std::vector<std::uint32_t> numbers = std::move(numbers_);
    resize(size_ + std::size_t{1});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (numbers[i] == kNone) continue;
      const std::size_t at = slot(ids[i]);
      ids_[at] = ids[i];
      numbers_[at] = numbers[i];
    }
  }

  std::vector<std::uint64_t> ids_;
  std::vector<std::uint32_t> numbers_;
  std::uint32_t size_ = 0;
};

}  // namespace poise
