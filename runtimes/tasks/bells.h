// Who sends something to a rank of its own node rings that rank's bell, so that a busy rank need
// not ask MPI, which costs a microsecond or two, to know that there is nothing to read.
#pragma once

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <vector>

#include "runtimes/tasks/arena.h"

namespace poise::tasks {

/// A bell may ring before its message can be received, so that who heard it looks twice, and what
/// comes from other nodes rings none.
class Bells {
 public:
  /// Collective. Ranks that share no memory have none.
  Bells(MPI_Comm communicator, Arena& arena);
  ~Bells();
  Bells(const Bells&) = delete;
  Bells& operator=(const Bells&) = delete;

  void ring(std::uint32_t rank) {
    if (of_rank_[rank]) std::atomic_ref(*of_rank_[rank]).fetch_add(1, std::memory_order_release);
  }

  /// Whether all other ranks can ring this one's.
  bool ring_for_all() const { return ring_for_all_; }

  /// Whether this rank's bell rang since the last call of `answer`. For several threads at once.
  bool rang() const { return own_ && heard() != answered_.load(std::memory_order_relaxed); }
  /// To be called before looking at what has come.
  void answer() {
    if (own_) answered_.store(heard(), std::memory_order_relaxed);
  }

 private:
  std::uint32_t heard() const { return std::atomic_ref(*own_).load(std::memory_order_acquire); }

  Arena& arena_;
  std::uint32_t* own_ = nullptr;         // null: nobody can ring here
  std::vector<std::uint32_t*> of_rank_;  // null: none, or this rank
  std::atomic<std::uint32_t> answered_{0};
  bool ring_for_all_ = false;
};

}  // namespace poise::tasks
