// SPDX-License-Identifier: BSD-3-Clause
// Caches what messages between two domains have in common: resources, factors, latency.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// A small cache from pairs of domains to values. A new pair may replace an old one, so memory does
/// not grow with the machine.
template <typename Value>
class DomainPairs {
 public:
  struct Entry {
    DomainId from = 0, to = 0;
    bool is_used = false;
    Value value = {};
  };

  DomainPairs() : DomainPairs(kEntries, kStride) {}
  /// Makes a cache whose size depends on the number of domains. With at most 64 domains, no pair
  /// replaces another one. This cache and the default cache replace pairs at different times, so
  /// the caller's results must not depend on when forget() is called, or for which pairs.
  explicit DomainPairs(std::size_t num_domains)
      : DomainPairs(std::min(std::bit_ceil(num_domains * num_domains), kMaxEntries),
                    num_domains * num_domains <= kMaxEntries ? num_domains : kStride) {}

  /// Returns the value of the pair. If the cache does not contain the pair, calls forget(entry) for
  /// the entry that will be replaced, and computes the value by make(from, to).
  template <typename Make, typename Forget>
  Value& of(DomainId from, DomainId to, const Make& make, const Forget& forget) {
    Entry& entry = entries_[(std::size_t{from} * stride_ + to) & (entries_.size() - 1)];
    if (!entry.is_used || entry.from != from || entry.to != to) {
      if (entry.is_used) forget(entry);
      entry = {from, to, true, make(from, to)};
    }
    return entry.value;
  }

  /// Empties the cache and calls forget(entry) for each entry.
  template <typename Forget>
  void clear(const Forget& forget) {
    for (Entry& entry : entries_) {
      if (entry.is_used) forget(entry);
      entry.is_used = false;
    }
  }

 private:
  // With this kStride, pairs of domains with low numbers rarely share an entry of the cache.
  static constexpr std::size_t kEntries = 1024, kStride = 67;
  static constexpr std::size_t kMaxEntries = 64 * 64;

  DomainPairs(std::size_t entries, std::size_t stride) : stride_(stride), entries_(entries) {}

  std::size_t stride_;
  std::vector<Entry> entries_;  // their number is a power of two
};

}  // namespace poise
