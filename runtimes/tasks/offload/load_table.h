// The loads of a node's ranks in shared memory, where the others read them without a message.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <optional>

#include "runtimes/tasks/offload/loads.h"
#include "runtimes/tasks/transport/arena.h"
#include "runtimes/tasks/transport/per_rank.h"

namespace poise::tasks {

/// Not thread-safe.
class LoadTable {
 public:
  /// Collective. Ranks that share no memory see no entry but their own.
  LoadTable(MPI_Comm communicator, Arena& arena) : entries_(communicator, arena) {}

  void publish(const Load& load) { entries_.own().write(load); }
  /// What that rank published last. Nothing if it has published nothing, shares no memory with this
  /// one, or is writing at this moment.
  std::optional<Load> load_of(std::uint32_t rank) const {
    const Entry* const notice = entries_.of(rank);
    return notice ? notice->read() : std::nullopt;
  }
  /// True if that other rank can read what this one publishes.
  bool is_visible_to(std::uint32_t rank) const { return entries_.is_visible_to(rank); }

 private:
  /// A seqlock (Lameter, "Effective synchronization on Linux/NUMA systems", 2005): one process
  /// writes and counts before and after each change, the others read. Ordered by the accesses to
  /// the words rather than by fences, which the thread sanitizer does not know.
  class Entry {
   public:
    void write(const Load& load);
    std::optional<Load> read() const;

   private:
    using Words = std::array<std::uint64_t, sizeof(Load) / sizeof(std::uint64_t)>;
    std::atomic<std::uint32_t> changes_{0};  // odd during a change
    std::array<std::atomic<std::uint64_t>, Words().size()> words_{};
  };

  PerRank<Entry> entries_;
};

}  // namespace poise::tasks
