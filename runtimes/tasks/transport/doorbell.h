// Who sends something to a rank of its own node rings that rank's bell, so that a busy rank need
// not ask MPI, which costs a microsecond or two, to know that there is nothing to read, and an idle
// one can sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <mpi.h>

#include "runtimes/tasks/transport/arena.h"
#include "runtimes/tasks/transport/parker.h"
#include "runtimes/tasks/transport/per_rank.h"

namespace poise::tasks {

/// A bell counts: it rings until as many messages have been received as were announced, which may
/// be a moment before they can be. What comes from other nodes rings none.
class Bells {
 public:
  /// Collective. Ranks that share no memory have none.
  Bells(MPI_Comm communicator, Arena& arena);

  void ring(std::uint32_t rank) {
    if (Bell* const bell = bells_.of(rank)) bell->ring();
  }
  /// Wakes who sleeps through what can wait until a task has ended.
  void call(std::uint32_t rank) {
    if (Bell* const bell = bells_.of(rank)) bell->call();
  }

  /// Whether there are other ranks and all can ring this one's.
  bool ring_for_all() const { return ring_for_all_; }

  /// Whether something is to come that was announced. For several threads at once.
  bool rings() const { return heard() != answered_.load(std::memory_order_relaxed); }
  /// How often it has rung.
  std::uint32_t heard() const { return bells_.own().heard.load(); }
  /// What `rank` announced has come.
  void answer(std::uint32_t rank) {
    if (!bells_.is_seen_by(rank)) return;
    answered_.store(answered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// How often this rank was called.
  std::uint32_t calls() const { return bells_.own().calls.load(); }

  /// Where threads of this rank sleep until its bell rings, and until it is called.
  Sleeper& rung() { return bells_.own().rung; }
  Sleeper& called() { return bells_.own().called; }

 private:
  struct Bell {
    void ring() {
      heard.fetch_add(1);
      rung.wake();
    }
    void call() {
      calls.fetch_add(1);
      called.wake();
    }
    std::atomic<std::uint32_t> heard{0}, calls{0};
    Sleeper rung, called;
  };

  OfEachRank<Bell> bells_;
  std::atomic<std::uint32_t> answered_{0};
  bool ring_for_all_ = false;
};

}  // namespace poise::tasks
