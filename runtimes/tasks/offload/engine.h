// SPDX-License-Identifier: BSD-3-Clause
// The offload engine of one rank: it polls for messages, dispatches them to its parts, and lets
// each part take its next step. It holds no policy: poise/online decides.
//
// The life of a lent task, and which part has it when:
//
//   lender rank (the owner)                           borrower rank
//   TaskPool: queued
//   LenderSide, TaskCodec: packed      --tasks-->     BorrowerSide, TaskCodec: unpacked
//   LentTasks: waits in its slot                      TaskPool: queued, run
//   Returns: outputs written,          <--results--   Returns: results packed
//            `finished`
//   Runtime, TaskPool: finished
//
// A borrowed task may be lent on. Its results go straight to the owner or, if that rank is a
// bottleneck, to the collector of the node (LendingAgent::returns_to).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtimes/tasks/offload/borrower.h"
#include "runtimes/tasks/offload/codec.h"
#include "runtimes/tasks/offload/lender.h"
#include "runtimes/tasks/offload/lent_tasks.h"
#include "runtimes/tasks/offload/load_exchange.h"
#include "runtimes/tasks/offload/messenger.h"
#include "runtimes/tasks/offload/replicas.h"
#include "runtimes/tasks/offload/returns.h"

#include "poise/online/termination.h"

namespace poise::tasks {

/// Only the functions that are marked as thread-safe may be called by several threads concurrently.
/// During a wait only this class calls MPI.
class OffloadEngine {
 public:
  /// Collective.
  OffloadEngine(MPI_Comm communicator, const Locality& locality, const Knobs& settings,
                Policy policy, TaskPool& pool);

  /// Polls for messages and handles them. `wait` is the number of the wait that this rank is in;
  /// the first call with a new number begins this wait. `all_inside` is true if all threads of the
  /// program are waiting, so only tasks can still submit tasks. `threads` is the number of threads
  /// that run tasks.
  void step(double now_s, std::uint64_t wait, bool all_inside, unsigned threads);
  /// Completes all messages in flight. Collective.
  void drain();

  /// True if a rank of this node has announced a message to this rank. Also true if transfers were
  /// not complete, or answers were due, when step() last returned. Thread-safe.
  bool has_messages() const {
    return messenger_.doorbells.is_pending() || in_flight_.load(std::memory_order_relaxed);
  }
  /// True if the last step() left a steal request undecided, because the previous decision about
  /// lending was too recent. Thread-safe.
  bool is_request_undecided() const {
    return is_request_undecided_.load(std::memory_order_relaxed);
  }
  /// True if every message to this rank, except gossip about loads, wakes its idle threads by
  /// ringing its doorbell. Thread-safe.
  bool all_messages_notify() const { return all_messages_notify_.load(std::memory_order_relaxed); }
  /// True if other ranks wake the progress thread for every message that cannot wait until the
  /// current task ends. Thread-safe.
  bool progress_is_woken() const { return messenger_.agent.pulls() && all_messages_notify(); }
  /// The number of messages of the termination detector that have arrived. Thread-safe.
  std::uint32_t termination_rounds() const {
    return termination_rounds_.load(std::memory_order_relaxed);
  }
  /// The doorbells, at which idle threads and the progress thread sleep. Thread-safe.
  Doorbells& doorbells() { return messenger_.doorbells; }

  /// The number of the last wait that has ended.
  std::uint64_t done_wait() const {
    return termination_.done() ? termination_.wait() : termination_.wait() - 1;
  }
  /// Returns tasks of this rank whose results have arrived; the caller finishes them without
  /// holding the engine's mutex.
  std::vector<std::unique_ptr<Task>> take_finished() {
    return std::exchange(messenger_.finished, {});
  }
  /// Returns the ranks that have not entered the wait, as far as this rank knows.
  std::vector<std::uint32_t> missing() const { return termination_.missing(); }
  /// Returns the messenger, which has the communicator, the rank, the counters and the shared
  /// memory.
  Messenger& messenger() { return messenger_; }
  const Messenger& messenger() const { return messenger_; }

 private:
  void enter(double now_s);
  void handle(const Transport::Arrival& arrival);
  /// Confirms results and declines steal requests.
  void answer();
  void detect_termination();
  void end_wait();
  void send_termination(const std::vector<TerminationMessage>& messages);

  Messenger messenger_;
  LentTasks lent_;
  TaskCodec codec_;
  LoadExchange loads_;
  Returns returns_;
  LenderSide lender_;
  BorrowerSide borrower_;
  Replicas replicas_;
  TerminationDetector termination_;
  std::atomic<std::uint32_t> termination_rounds_{0};
  // True if a transfer was in flight or an answer was due after the last step().
  std::atomic<bool> in_flight_{false};
  // What is_request_undecided() and all_messages_notify() return: the values at the end of the last
  // step().
  std::atomic<bool> is_request_undecided_{false}, all_messages_notify_{false};
};

}  // namespace poise::tasks
