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
class Doorbells {
 public:
  /// Collective. Ranks that share no memory have none.
  Doorbells(MPI_Comm communicator, Arena& arena);

  void notify(std::uint32_t rank) {
    if (Doorbell* const bell = doorbells_.of(rank)) bell->notify();
  }
  /// Wakes who sleeps through what can wait until a task has ended.
  void wake_progress(std::uint32_t rank) {
    if (Doorbell* const bell = doorbells_.of(rank)) bell->wake_progress();
  }

  /// Whether there are other ranks and all can ring this one's.
  bool all_ranks_notify() const { return all_ranks_notify_; }

  /// Whether something is to come that was announced. For several threads at once.
  bool is_pending() const { return announced() != received_.load(std::memory_order_relaxed); }
  /// How often it has rung.
  std::uint32_t announced() const { return doorbells_.own().announced.load(); }
  /// What `rank` announced has come.
  void received_from(std::uint32_t rank) {
    if (!doorbells_.is_visible_to(rank)) return;
    received_.store(received_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// How often this rank was called.
  std::uint32_t progress_wakes() const { return doorbells_.own().progress_wakes.load(); }

  /// Where threads of this rank sleep until its bell rings, and until it is called.
  Parker& parker() { return doorbells_.own().parker; }
  Parker& progress_parker() { return doorbells_.own().progress_parker; }

 private:
  struct Doorbell {
    void notify() {
      announced.fetch_add(1);
      parker.wake();
    }
    void wake_progress() {
      progress_wakes.fetch_add(1);
      progress_parker.wake();
    }
    std::atomic<std::uint32_t> announced{0}, progress_wakes{0};
    Parker parker, progress_parker;
  };

  PerRank<Doorbell> doorbells_;
  std::atomic<std::uint32_t> received_{0};
  bool all_ranks_notify_ = false;
};

}  // namespace poise::tasks
