// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/pair_table.h"

#include "runtimes/profile/hash.h"

namespace poise::profile {

namespace {

std::uint64_t key_of(std::uint32_t peer, bool is_fetched) {
  return std::uint64_t{peer} << 1 | (is_fetched ? 1 : 0);
}

}  // namespace

void PairTable::add(std::uint32_t peer, std::uint64_t messages, std::uint64_t bytes,
                    bool is_fetched) {
  const bool is_last =
      !totals_.empty() && totals_[last_].peer == peer && totals_[last_].is_fetched == is_fetched;
  if (!is_last) last_ = entry_of(peer, is_fetched);
  totals_[last_].messages += messages;
  totals_[last_].bytes += bytes;
}

std::size_t PairTable::entry_of(std::uint32_t peer, bool is_fetched) {
  if (2 * (totals_.size() + 1) > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = mixed(key_of(peer, is_fetched)) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Traffic& found = totals_[slots_[slot] - 1];
    if (found.peer == peer && found.is_fetched == is_fetched) return slots_[slot] - 1;
  }
  totals_.push_back({peer, is_fetched, 0, 0});
  slots_[slot] = totals_.size();
  return totals_.size() - 1;
}

void PairTable::grow() {
  slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    std::size_t slot = mixed(key_of(totals_[i].peer, totals_[i].is_fetched)) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = i + 1;
  }
}

}  // namespace poise::profile
