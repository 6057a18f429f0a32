// SPDX-License-Identifier: BSD-3-Clause
// Doorbells: counters in shared memory with which a rank announces a message to another rank of its
// node. A busy rank need not call MPI (1 to 2 µs) if its counters show that no message has arrived.
// An idle rank sleeps until a message is announced.
#pragma once

#include <atomic>
#include <cstdint>
#include <mpi.h>

#include "runtimes/tasks/transport/arena.h"
#include "runtimes/tasks/transport/parker.h"
#include "runtimes/tasks/transport/per_rank.h"

namespace poise::tasks {

/// Counts announced and received messages. While the counts differ, a message is about to arrive,
/// even if MPI does not show it yet. Ranks of other nodes cannot use the doorbell.
class Doorbells {
 public:
  /// Collective. Ranks that share no memory with others have no doorbell.
  Doorbells(MPI_Comm communicator, Arena& arena);

  /// Announces a message to `rank`, and wakes its threads.
  void notify(std::uint32_t rank) {
    if (Doorbell* const bell = doorbells_.of(rank)) bell->notify();
  }
  /// Wakes the progress thread of `rank`, which may otherwise sleep until a task has ended.
  void wake_progress(std::uint32_t rank) {
    if (Doorbell* const bell = doorbells_.of(rank)) bell->wake_progress();
  }

  /// True if there are other ranks and each of them can ring this rank's doorbell.
  bool all_ranks_notify() const { return all_ranks_notify_; }

  /// True if an announced message has not been received yet. Thread-safe.
  bool is_pending() const { return announced() != received_.load(std::memory_order_relaxed); }
  /// The number of messages announced to this rank so far.
  std::uint32_t announced() const { return doorbells_.own().announced.load(); }
  /// Counts one announced message from `rank` as received.
  void received_from(std::uint32_t rank) {
    if (!doorbells_.is_visible_to(rank)) return;
    received_.store(received_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// The number of times that other ranks have woken this rank's progress thread.
  std::uint32_t progress_wakes() const { return doorbells_.own().progress_wakes.load(); }

  /// Lets an idle thread of this rank sleep until announced() differs from `announced_before`, for
  /// at most `max_s` seconds.
  void park_until_notified(std::uint32_t announced_before, double max_s) {
    parker().park(max_s, [=, this] { return announced() != announced_before; });
  }
  Parker& parker() { return doorbells_.own().parker; }
  /// The object in which the progress thread of this rank sleeps until another rank calls
  /// wake_progress().
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
