// SPDX-License-Identifier: BSD-3-Clause
// The messages and bytes that one rank sent to each other rank: a sparse table that grows with the
// number of peers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace poise::profile {

/// Messages and bytes sent to a peer or, if is_fetched, fetched from it (MPI_Get).
struct Traffic {
  std::uint32_t peer = 0;
  bool is_fetched = false;
  std::uint64_t messages = 0, bytes = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// The traffic with each peer, summed since the start. Peers are in the order in which they first
/// occurred. Adding takes O(1).
class PairTable {
 public:
  void add(std::uint32_t peer, std::uint64_t messages, std::uint64_t bytes,
           bool is_fetched = false);
  std::span<const Traffic> totals() const { return totals_; }

 private:
  std::size_t entry_of(std::uint32_t peer, bool is_fetched);
  void grow();

  std::vector<Traffic> totals_;
  /// A hash table. Its size is a power of two. A slot contains 1 plus an index into totals_, or 0
  /// if the slot is free.
  std::vector<std::uint32_t> slots_;
  /// The index of the entry that was used last. It is tried first, because programs often send
  /// several messages to the same peer.
  std::size_t last_ = 0;
};

}  // namespace poise::profile
