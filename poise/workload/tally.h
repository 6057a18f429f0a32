// SPDX-License-Identifier: BSD-3-Clause
// Adds up values by key. The recorder calls it for every event, so it must be fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/base/random.h"

namespace poise {

/// A table of sums with one entry per 64-bit key. Memory grows with the number of distinct keys,
/// not of additions.
///
/// Programs repeat the same sequence of keys. Entries are stored in the order in which their keys
/// first appeared, and a lookup first tries the entry after the last one used, so most lookups
/// compare one key in consecutive memory. Other lookups use open addressing with at most half of
/// the slots in use.
template <typename Sum>
class Tally {
 public:
  struct Entry {
    std::uint64_t key;
    Sum sum;
  };

  Sum& operator[](std::uint64_t key) {
    if (expected_ < entries_.size() && entries_[expected_].key == key)
      return entries_[expected_++].sum;
    return find_or_add(key);
  }

  std::span<const Entry> entries() const { return entries_; }

  /// Sets all sums to Sum{} but keeps their keys, because a program usually adds to the same keys
  /// again. If at least one key was not used since the last call, removes all keys instead, so that
  /// unused keys do not accumulate.
  void restart() {
    expected_ = 0;
    bool all_used = true;
    for (Entry& entry : entries_) {
      all_used = all_used && entry.sum != Sum{};
      entry.sum = Sum{};
    }
    if (all_used) return;
    entries_.clear();
    slots_.assign(slots_.size(), 0);
  }

 private:
  Sum& find_or_add(std::uint64_t key) {
    if (entries_.size() * 2 >= slots_.size()) grow();
    std::size_t slot = slot_of(key);
    while (slots_[slot] != 0 && entries_[slots_[slot] - 1].key != key)
      slot = (slot + 1) & (slots_.size() - 1);
    if (slots_[slot] == 0) {
      entries_.push_back({key, Sum{}});
      slots_[slot] = entries_.size();
    }
    expected_ = slots_[slot];
    return entries_[expected_ - 1].sum;
  }

  std::size_t slot_of(std::uint64_t key) const { return mix(key) & (slots_.size() - 1); }

  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::size_t slot = slot_of(entries_[i].key);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i + 1;
    }
  }

  std::vector<Entry> entries_;
  /// Each slot holds an index into entries_ plus 1, or 0 if it is free. The number of slots is a
  /// power of two.
  std::vector<std::uint32_t> slots_;
  std::size_t expected_ = 0;
};

}  // namespace poise
