// SPDX-License-Identifier: BSD-3-Clause
// The offload engine of one rank: it lends and borrows tasks, returns results, spreads loads and
// detects termination. It holds no policy: poise/online/lending.h decides how much to lend.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtimes/tasks/offload/load_table.h"
#include "runtimes/tasks/offload/loads.h"
#include "runtimes/tasks/offload/termination.h"
#include "runtimes/tasks/policy.h"
#include "runtimes/tasks/pool/pool.h"
#include "runtimes/tasks/transport/arena.h"
#include "runtimes/tasks/transport/bytes.h"
#include "runtimes/tasks/transport/doorbell.h"
#include "runtimes/tasks/transport/link_model.h"
#include "runtimes/tasks/transport/locality.h"
#include "runtimes/tasks/transport/tokens.h"
#include "runtimes/tasks/transport/transport.h"

#include "poise/base/knobs.h"
#include "poise/base/random.h"
#include "poise/online/lending.h"

namespace poise::tasks {

/// Not thread-safe, except for the functions that say so. During a wait only this class calls MPI.
class OffloadEngine {
 public:
  /// Collective.
  OffloadEngine(MPI_Comm communicator, const Locality& locality, const Knobs& settings,
                Policy policy, TaskPool& pool);

  /// Polls for messages and handles them. `wait`: the number of the wait that this rank is in; the
  /// first call with a new number enters that wait. `all_inside`: all threads of the program are in
  /// the wait, so that only tasks can submit. `threads`: the number of threads that run tasks.
  void step(double now_s, std::uint64_t wait, bool all_inside, unsigned threads);

  /// True if a rank of this node has announced a message, or a transfer was in flight after the
  /// last step. Thread-safe.
  bool has_messages() const {
    return doorbells_.is_pending() || in_flight_.load(std::memory_order_relaxed);
  }
  /// The number of messages that other ranks have announced so far. Thread-safe.
  std::uint32_t announced() const { return doorbells_.announced(); }
  /// Sleeps until announced() differs from `announced`, for at most `max_s` seconds. Thread-safe.
  void park_until_notified(std::uint32_t announced, double max_s) {
    doorbells_.parker().park(max_s, [=, this] { return doorbells_.announced() != announced; });
  }
  /// The progress thread sleeps here until a thief whose steal request got no answer wakes it.
  /// Wake-ups are counted, so that one sent before it sleeps is not missed.
  Parker& progress_parker() { return doorbells_.progress_parker(); }
  std::uint32_t progress_wakes() const { return doorbells_.progress_wakes(); }
  /// True if every message except gossip rings the doorbell. Thread-safe.
  bool all_messages_notify() const { return all_messages_notify_.load(std::memory_order_relaxed); }

  /// True if other ranks wake the progress thread for every message that cannot wait until the
  /// current task ends. Thread-safe.
  bool progress_is_woken() const { return pull_ && all_messages_notify(); }
  /// The number of messages of the termination detector that have arrived. Thread-safe.
  std::uint32_t termination_rounds() const {
    return termination_rounds_.load(std::memory_order_relaxed);
  }

  /// The number of the last wait that has ended.
  std::uint64_t done_wait() const {
    return termination_.done() ? termination_.wait() : termination_.wait() - 1;
  }

  /// Completes all messages in flight. Collective.
  void drain();

  /// Tasks of this rank whose results have arrived; the caller finishes them without holding the
  /// engine's mutex.
  std::vector<std::unique_ptr<Task>> take_finished() { return std::exchange(finished_, {}); }

  std::vector<std::uint32_t> missing() const { return termination_.missing(); }
  MPI_Comm communicator() const { return transport_.communicator(); }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t num_ranks() const { return num_ranks_; }
  const Counters& counters() const { return counters_; }
  Arena& arena() { return arena_; }

 private:
  enum class Kind : std::uint8_t {
    tasks,
    results,
    steal_request,
    decline,
    load,
    termination,
    replica,
    claim,
    grant,
    refuse
  };
  /// Marks the slot number of a replicated task; the other bits hold its ticket.
  static constexpr std::uint64_t kReplicaBit = std::uint64_t{1} << 63;
  /// A copy of a task that belongs to another rank.
  struct Replica {
    std::unique_ptr<Task> task;
    Ticket ticket = 0;
    std::uint64_t* token = nullptr;  // null if only the owner rank can grant the task
    bool claimed = false;
  };
  struct Peer {
    std::uint64_t lent = 0, borrowed = 0;  // tasks lent to it and borrowed from it so far
    std::uint64_t arrived = 0;             // lent tasks that it has received, by its last message
    // Expected seconds of each lent task that it has not yet received.
    std::deque<double> in_flight_s;
    double sum_in_flight_s = 0;
    double slowness = 1;  // its time for a task divided by this rank's time
    PeerLocality at;
    bool steal_requested = false;  // it waits for this rank's answer to a steal request
    double requested_at_s = 0;
    double steal_backoff_s = 0;
  };

  // Messages.
  Writer begin(Kind kind, std::uint32_t to, double requested_at_s = 0);
  void send(std::uint32_t to, Writer&& header, std::vector<Payload> payloads = {},
            std::shared_ptr<const void> keep = nullptr);
  void send_quietly(std::uint32_t to, Writer&& header, std::vector<Payload> payloads = {},
                    std::shared_ptr<const void> keep = nullptr);  // does not ring the doorbell
  void handle(const Transport::Arrival& arrival);
  void update_load(Load load, std::uint32_t from);
  void send_termination(const std::vector<TerminationMessage>& messages);
  Load own_load(const TaskPool::State& state) const;

  // Lending.
  void lend_if_useful(const TaskPool::State& state);
  std::vector<Loan> loans(const TaskPool::State& state);
  std::vector<Loan> loans_of_policy(const LendingView& view);
  std::vector<Loan> loans_by_cost(const LendingView& view, const TaskPool::State& state);
  double exploration_cost_s(const std::vector<Loan>& loans, const LendingView& view) const;
  double overhead_s(const TaskPool::State& state, double bytes) const;
  void ask_policy_for_load(const TaskPool::State& state);
  std::vector<Loan> exploration_loans(const TaskPool::State& state) const;
  bool can_borrow(std::uint32_t rank) const;
  double share_remaining(const Load& load) const;
  Borrower borrower(std::uint32_t rank, const TaskPool::State& state) const;
  void lend(Loan loan, double task_bytes);
  void lend_named(const Loan& loan, double task_bytes, bool asked);
  std::size_t lend_batch(const Loan& loan, double task_bytes, bool borrowed_too);
  std::vector<std::unique_ptr<Task>> take_for(const Loan& loan, double task_bytes,
                                              bool borrowed_too);
  Reason reason_to_lend(std::uint32_t rank, const std::vector<std::unique_ptr<Task>>& tasks) const;
  bool prepare_to_lend(std::unique_ptr<Task>& task);
  void assign_slot(Task& task);
  std::size_t room_at(std::uint32_t rank, double task_bytes) const;
  void decline(std::uint32_t rank);

  // Tasks to bytes and back.
  bool is_sent_as_payload(std::size_t bytes, const Writer& header) const;
  void write_task(Writer& header, Task& task, std::uint32_t to, std::vector<Payload>& payloads);
  std::optional<Arena::Spot> spot_of(Task& task, std::size_t i, std::uint32_t to);
  void handle_tasks(const Transport::Arrival& arrival, Reader& reader, std::uint32_t from);
  void read_task(const Transport::Arrival& arrival, Reader& reader, std::uint32_t from,
                 std::function<void(std::unique_ptr<Task>)> then);
  void read_items(const Transport::Arrival& arrival, Reader& reader, std::uint32_t from,
                  std::unique_ptr<Task> task, std::uint32_t num_items,
                  std::function<void(std::unique_ptr<Task>)> then);

  // Replicas: copies of tasks sent to other ranks ahead of time.
  void want_replicas(const TaskPool::State& state);
  void send_replicas();
  void send_replica(Task& task, std::uint32_t to);
  void handle_replica(const Transport::Arrival& arrival, Reader& reader, std::uint32_t from);
  void handle_claim(Reader& reader, std::uint32_t from);
  void claimed(Reader& reader, std::uint32_t owner, bool granted);
  void use_replicas(const TaskPool::State& state);
  bool claim_random_replica();
  void report_cancelled(const Task& task);
  void drop_replicas();
  std::unique_ptr<Task> take_returned(std::uint64_t slot);

  // Borrowing tasks.
  void steal_if_idle(const TaskPool::State& state);
  void wake_unresponsive_victims();
  void handle_answer(std::uint32_t from, double requested_at_s, bool with_tasks);

  // Results.
  void send_results(const TaskPool::State& state);
  void send_results_to(std::uint32_t owner, std::vector<std::unique_ptr<Task>> tasks);
  void handle_results(const Transport::Arrival& arrival, Reader& reader, std::uint32_t from);
  void write_output(Writer& header, const Item& item, std::vector<Payload>& payloads);
  void write_result(Writer& header, Buffer& result, std::vector<Payload>& payloads);
  void read_result_bytes(Buffer& result, Reader& reader, std::vector<Payload>& payloads);
  double read_result(const Transport::Arrival& arrival, Reader& reader, std::uint32_t from);
  void learn_time(const Task& task, double seconds, std::uint32_t ran_on);
  std::vector<Payload> read_outputs(Task& task, Reader& reader);
  std::unique_ptr<Task> take_slot(std::uint64_t slot);

  void publish_load(const TaskPool::State& state);
  void read_load_table();
  void gossip(const TaskPool::State& state);

  const Knobs& settings_;
  TaskPool& pool_;
  Transport transport_;
  Arena arena_;
  Doorbells doorbells_;
  LoadTable load_table_;
  std::atomic<bool> in_flight_{false};            // some transfer was in flight after the last step
  std::atomic<bool> all_messages_notify_{false};  // as of the last step
  std::uint32_t rank_ = 0, num_ranks_ = 1;
  unsigned threads_ = 1;  // threads that run tasks now
  TerminationDetector termination_;
  std::atomic<std::uint32_t> termination_rounds_{0};
  Loads loads_;
  Random random_;
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> nearest_first_;  // all other ranks, sorted by distance
  LinkModel links_;
  TaskOverhead packing_, unpacking_;          // costs of lent tasks, and of returned results
  std::vector<std::unique_ptr<Task>> slots_;  // tasks of this rank that are lent
  std::vector<std::uint64_t> free_slots_;
  std::vector<std::unique_ptr<Task>> finished_;
  // Finished borrowed tasks whose results are not yet sent.
  std::vector<std::unique_ptr<Task>> results_;
  double oldest_result_s_ = 0;
  std::vector<Buffer> kept_results_;  // results that their owners read in place until the wait ends
  double kept_bytes_ = 0;
  Tokens tokens_;
  std::vector<Replica> replicas_;      // oldest first
  std::uint64_t replicated_wait_ = 0;  // the last wait in which the policy chose replicas
  double now_s_ = 0, wait_since_s_ = 0;
  double next_decision_s_ = 0, next_gossip_s_ = 0, next_steal_s_ = 0, steal_pause_s_ = 0;
  double next_exploration_s_ = 0;
  struct Unanswered {
    std::uint32_t rank;
    double sent_s;
  };
  std::deque<Unanswered> unanswered_;  // the latest steal requests without an answer
  double next_replicas_s_ = 0;
  std::uint32_t version_ = 0;
  Load published_load_;
  std::vector<std::uint32_t>
      gossip_targets_;  // ranks that cannot read this rank's entry in the load table
  bool in_wait_ = false, has_steal_request_ = false, reported_policy_failure_ = false;
  double stated_load_ = 0;
  Counters counters_;

  // Settings that every step reads.
  const bool pull_, push_;
  const std::size_t policy_;
  const Policy custom_policy_;
  const double min_gain_, batch_bytes_;
  const std::size_t large_bytes_;
  const CountThresholds thresholds_;
};

}  // namespace poise::tasks
