// SPDX-License-Identifier: BSD-3-Clause
// Task ids that are unique over all ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace poise::chameleon {

/// Assigns ids to the tasks of a rank. An id is congruent to the rank's number modulo the number of
/// ranks. When the range of int is used up, numbering starts again from the smallest id and skips
/// ids that are in use.
class Ids {
 public:
  Ids(int rank, int num_ranks) : rank_(rank), num_ranks_(num_ranks) {}

  /// Returns a new id for which `in_use` is false, or nothing if all ids are in use.
  template <typename InUse>
  std::optional<int> next(const InUse& in_use) {
    for (std::int64_t tries = 0; tries < most(); ++tries) {
      const int id = of(given_++);
      if (!in_use(id)) return id;
    }
    return std::nullopt;
  }

  /// True if the id was ever given to a task of this rank.
  bool was_given(int id) const {
    if (id < num_ranks_ || id % num_ranks_ != rank_) return false;
    return given_ >= most() || id / num_ranks_ <= given_;
  }

 private:
  std::int64_t most() const { return std::numeric_limits<int>::max() / num_ranks_ - 1; }
  int of(std::int64_t number) const {
    return static_cast<int>((number % most() + 1) * num_ranks_) + rank_;
  }

  int rank_, num_ranks_;
  std::int64_t given_ = 0;
};

}  // namespace poise::chameleon
