// What the ranks of a node say of their loads, where the others read it without a message.
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

/// Not for several threads at once.
class LoadTable {
 public:
  /// Collective. Ranks that share no memory see nothing.
  LoadTable(MPI_Comm communicator, Arena& arena) : entries_(communicator, arena) {}

  void publish(const Load& load) { entries_.own().write(load); }
  /// What that rank said last. Nothing if it has said nothing, cannot be seen, or is just writing.
  std::optional<Load> load_of(std::uint32_t rank) const {
    const Entry* const notice = entries_.of(rank);
    return notice ? notice->read() : std::nullopt;
  }
  /// Whether that other rank sees what this one says.
  bool is_visible_to(std::uint32_t rank) const { return entries_.is_visible_to(rank); }

 private:
  /// One process writes, the others read. It counts before and after each change (Lameter,
  /// "Effective synchronization on Linux/NUMA systems", 2005: a seqlock); by the order of words
  /// written and read, because the thread sanitizer knows no fences.
  class Entry {
   public:
    void write(const Load& load);
    std::optional<Load> read() const;

   private:
    using Words = std::array<std::uint64_t, sizeof(Load) / sizeof(std::uint64_t)>;
    std::atomic<std::uint32_t> changes_{0};  // odd while it is written
    std::array<std::atomic<std::uint64_t>, Words().size()> words_{};
  };

  PerRank<Entry> entries_;
};

}  // namespace poise::tasks
