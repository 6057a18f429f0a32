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
class Board {
 public:
  /// Collective. Ranks that share no memory see nothing.
  Board(MPI_Comm communicator, Arena& arena) : notices_(communicator, arena) {}

  void say(const Load& load) { notices_.own().write(load); }
  /// What that rank said last. Nothing if it has said nothing, cannot be seen, or is just writing.
  std::optional<Load> said_by(std::uint32_t rank) const {
    const Notice* const notice = notices_.of(rank);
    return notice ? notice->read() : std::nullopt;
  }
  /// Whether that other rank sees what this one says.
  bool is_seen_by(std::uint32_t rank) const { return notices_.is_seen_by(rank); }

 private:
  /// One process writes, the others read. It counts before and after each change (Lameter,
  /// "Effective synchronization on Linux/NUMA systems", 2005: a seqlock); by the order of words
  /// written and read, because the thread sanitizer knows no fences.
  class Notice {
   public:
    void write(const Load& load);
    std::optional<Load> read() const;

   private:
    using Words = std::array<std::uint64_t, sizeof(Load) / sizeof(std::uint64_t)>;
    std::atomic<std::uint32_t> changes_{0};  // odd while it is written
    std::array<std::atomic<std::uint64_t>, Words().size()> words_{};
  };

  OfEachRank<Notice> notices_;
};

}  // namespace poise::tasks
