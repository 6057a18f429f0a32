// Numbers of tasks that no two ranks give.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace poise::chameleon {

/// A rank's ids leave its own number when divided by the number of ranks. After the last one that
/// an int holds, two billion over the number of ranks, they start again, without those in use.
class Ids {
 public:
  Ids(int rank, int num_ranks) : rank_(rank), num_ranks_(num_ranks) {}

  /// A new one, of which `in_use` does not hold; nothing if all are in use.
  template <typename InUse>
  std::optional<int> next(const InUse& in_use) {
    for (std::int64_t tries = 0; tries < most(); ++tries) {
      const int id = of(given_++);
      if (!in_use(id)) return id;
    }
    return std::nullopt;
  }

  /// Whether it was given to a task of this rank, some time.
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
