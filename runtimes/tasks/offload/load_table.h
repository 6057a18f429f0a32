// SPDX-License-Identifier: BSD-3-Clause
// Each rank publishes its load in shared memory, where the ranks of its node read it without a
// message.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <optional>

#include "runtimes/tasks/transport/arena.h"
#include "runtimes/tasks/transport/per_rank.h"

#include "poise/online/peer_table.h"

namespace poise::tasks {

/// Not thread-safe.
class LoadTable {
 public:
  /// Creates the table; collective. A rank that shares no memory with others sees only its own
  /// entry.
  LoadTable(MPI_Comm communicator, Arena& arena) : entries_(communicator, arena) {}

  void publish(const Load& load) { entries_.own().write(load); }
  /// Returns the last load that `rank` published, or nothing if it has published none, shares no
  /// memory with this rank, or is writing at this moment.
  std::optional<Load> load_of(std::uint32_t rank) const {
    const Entry* const notice = entries_.of(rank);
    return notice ? notice->read() : std::nullopt;
  }
  /// True if another rank, `rank`, can read the load that this rank publishes.
  bool is_visible_to(std::uint32_t rank) const { return entries_.is_visible_to(rank); }

 private:
  /// A seqlock (Lameter, "Effective synchronization on Linux/NUMA systems", 2005): one process
  /// writes, and increments a counter before and after each change; the others read. Ordering comes
  /// from the accesses to the words rather than from fences, which the thread sanitizer does not
  /// understand.
  class Entry {
   public:
    void write(const Load& load);
    std::optional<Load> read() const;

   private:
    using Words = std::array<std::uint64_t, sizeof(Load) / sizeof(std::uint64_t)>;
    std::atomic<std::uint32_t> changes_{0};  // odd while the entry changes
    std::array<std::atomic<std::uint64_t>, Words().size()> words_{};
  };

  PerRank<Entry> entries_;
};

}  // namespace poise::tasks
