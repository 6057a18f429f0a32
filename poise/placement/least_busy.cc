// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/least_busy.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "poise/base/check.h"

namespace poise {

namespace {

/// For doubles >= 0 the order of the bits is the order of the values.
std::uint64_t rank_of(double busy_s) { return std::bit_cast<std::uint64_t>(busy_s); }

}  // namespace

LeastBusy::LeastBusy(std::vector<double> busy_s)
    : num_places_(busy_s.size()),
      num_leaves_(std::bit_ceil(busy_s.size())),
      busy_s_(std::move(busy_s)),
      winner_(2 * num_leaves_) {
  POISE_CHECK(num_places_ > 0);
  for (double& value : busy_s_) value += 0.0;
  busy_s_.resize(num_leaves_, std::numeric_limits<double>::infinity());
  for (std::size_t leaf = 0; leaf < num_leaves_; ++leaf) winner_[num_leaves_ + leaf] = leaf;
  for (std::size_t node = num_leaves_ - 1; node >= 1; --node) {
    const PlaceId left = winner_[2 * node], right = winner_[2 * node + 1];
    winner_[node] = busy_s_[right] < busy_s_[left] ? right : left;
  }
}

void LeastBusy::set(PlaceId p, double busy_s) {
  POISE_ASSERT(busy_s >= 0);
  busy_s_[p] = busy_s + 0.0;  // turns -0 into 0
  PlaceId winner = p;
  std::uint64_t rank = rank_of(busy_s_[p]);
  for (std::size_t node = num_leaves_ + p; node > 1; node /= 2) {
    const PlaceId sibling = winner_[node ^ 1];
    const std::uint64_t sibling_rank = rank_of(busy_s_[sibling]);
    const std::uint64_t sibling_is_left = node % 2;  // a left sibling wins ties
    // Selects the winner with masks, because a branch would be mispredicted half of the time.
    const std::uint64_t loses = -std::uint64_t{sibling_rank < rank + sibling_is_left};
    winner ^= (winner ^ sibling) & loses;
    rank ^= (rank ^ sibling_rank) & loses;
    // If this node has the same winner as before, and the winner is not p, no node above changes.
    if (winner_[node / 2] == winner && winner != p) return;
    winner_[node / 2] = winner;
  }
}

PlaceId LeastBusy::least_in(PlaceId first, PlaceId last) const {
  POISE_ASSERT(first < last);
  POISE_ASSERT(last <= num_places_);
  PlaceId winner = first;
  const auto challenge = [&](PlaceId p) {
    if (busy_s_[p] < busy_s_[winner] || (busy_s_[p] == busy_s_[winner] && p < winner)) winner = p;
  };
  std::size_t left = num_leaves_ + first, right = num_leaves_ + last;
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) challenge(winner_[left++]);
    if (right % 2 == 1) challenge(winner_[--right]);
  }
  return winner;
}

}  // namespace poise
