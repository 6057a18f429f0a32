// SPDX-License-Identifier: BSD-3-Clause
// Decides when a rank with tasks lends, to which of the ranks that it knows, and how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/online/lending.h"
#include "poise/online/link_model.h"
#include "poise/online/peer_table.h"
#include "poise/online/task_overhead.h"

namespace poise {

/// The content of a rank's queue at the time of a decision.
struct QueueState {
  std::size_t queued = 0, lendable = 0, running = 0;  // tasks
  // Expected seconds of lendable tasks, excluding functions of unknown time.
  double queued_s = 0;
  double running_s = 0;         // expected seconds that running tasks go on, summed over threads
  bool all_times_known = true;  // the times of all lendable tasks are known
  bool tasks_differ = false;    // true if some lendable task has a cost other than 1
  double bytes_out = 0;         // bytes sent if all lendable tasks are lent
  double bytes_both = 0;        // the same, with the bytes of their results
  TaskOverhead finishing;       // cost to finish tasks that other ranks ran

  double mean_s() const { return lendable > 0 ? queued_s / static_cast<double>(lendable) : 0; }
  double mean_bytes() const {
    return lendable > 0 ? bytes_both / static_cast<double>(lendable) : 0;
  }
};

/// A rank that waits for tasks of this rank.
struct Thief {
  std::uint32_t rank = 0;
  std::uint64_t wait = 0;     // the number of the wait in which it asked
  double requested_at_s = 0;  // when it asked, on its clock
  bool is_lasting = false;    // a lasting request is not declined
};

/// The ranks that wait for tasks of this rank, in the order of their requests. There are at most
/// kMaxPending; in addition, each rank that has this rank as a partner may have one lasting
/// request.
class Thieves {
 public:
  /// Adds a request. Returns false if it must be declined at once. A second request of a rank
  /// replaces the first.
  bool add(const Thief& thief);
  const Thief* find(std::uint32_t rank) const;
  /// Removes the request of a rank, if there is one.
  void remove(std::uint32_t rank);
  /// Removes and returns the requests of this wait that are to be declined.
  std::vector<Thief> take_declined(std::uint64_t wait);
  /// Removes the requests of earlier waits.
  void enter(std::uint64_t wait);
  bool any(std::uint64_t wait) const;
  std::span<const Thief> all() const { return thieves_; }

 private:
  std::vector<Thief> thieves_;
};

/// What a rank has learnt about the cost of lending.
///
/// | learnt | from |
/// |---|---|
/// | packing, unpacking: seconds per task and per byte | tasks lent, results taken back, timed here
/// | | latency and seconds per byte of each group of ranks | steal requests and answers; payloads |
/// | slowness of a rank | run times of its results against the expected times |
struct LendingCosts {
  TaskOverhead packing, unpacking;
  LinkModel links;

  /// CPU seconds that one lent task costs this rank: packing, unpacking its result, finishing it.
  double overhead_s(const QueueState& queue, double bytes) const {
    return packing.seconds(bytes) + unpacking.seconds(bytes) + queue.finishing.seconds(bytes);
  }
};

struct LoanSettings {
  enum class Choice : std::uint8_t { cost, paired, lightest, none };
  Choice choice = Choice::cost;
  bool push = true;              // lends without a request, too
  bool takes_all = false;        // a program's own policy decides, which sees all ranks
  double min_gain = 0.1;         // share by which a loan must shorten the wait
  double batch_bytes = 4 << 20;  // bytes of tasks that may wait at a borrower
  CountThresholds thresholds = {};
};

/// The time of a decision, the number of the wait, and the number of threads.
struct LoanMoment {
  double now_s = 0;
  std::uint64_t wait = 0;
  unsigned threads = 1;
};

/// The input of a decision: the LendingView, and what is known about each borrower in it.
struct LoanProblem {
  struct Known {
    double queued = 0;  // lendable tasks there, as it stated
    std::uint32_t in_flight = 0;
  };
  std::vector<Borrower> others;  // nearest first
  std::vector<Known> known;      // by index in others
  LendingView view;              // its `others` refers to the member above
};

class LoanPolicy {
 public:
  explicit LoanPolicy(const LoanSettings& settings) : settings_(settings) {}

  /// True if a decision is due. If no rank has sent a request, at least kDecisionInterval_s must
  /// have passed since the last decision; kDecisionCostFactor limits the fraction of time that
  /// these decisions take. If a rank has sent a request, it is enough that kAskedCostFactor times
  /// the duration of the last decision has passed.
  bool is_due(double now_s, bool asked) const {
    return now_s >= (asked ? next_asked_s_ : next_decision_s_);
  }
  void decided(double now_s, double cost_s);

  /// Fills `problem` with the ranks to which tasks may be lent: the ranks that have sent requests
  /// and, if the setting `push` is on, other ranks known to be in the current wait. Policies that
  /// have to see all ranks (`paired`, `lightest` and a policy of the program) get all these other
  /// ranks. The other policies get only the kMaxIdle of them that will be idle soonest; ties: the
  /// nearest.
  void pose(LoanProblem& problem, const QueueState& queue, const PeerTable& peers,
            const Thieves& thieves, const LendingCosts& costs, const LoanMoment& moment) const;

  /// Returns the loans. `named_queue` returns the lendable tasks one by one; it is called only if
  /// they differ in cost and are few enough for a choice among single tasks.
  std::vector<Loan> loans(const LoanProblem& problem, const QueueState& queue,
                          const LendingCosts& costs, double now_s,
                          const std::function<std::vector<QueuedTask>()>& named_queue);

  /// Returns how many more tasks may wait at a rank. Lent data occupy memory on both ranks until
  /// the results are back, so at most `batch_bytes` wait there, or a few tasks per thread if these
  /// are large.
  std::size_t room_at(const Peer& peer, double task_bytes, double now_s) const;

  const LoanSettings& settings() const { return settings_; }

 private:
  std::vector<Loan> by_cost(const LoanProblem& problem, const QueueState& queue,
                            const LendingCosts& costs, double now_s,
                            const std::function<std::vector<QueuedTask>()>& named_queue);
  std::vector<Loan> by_count(const LoanProblem& problem) const;

  LoanSettings settings_;
  double next_decision_s_ = 0, next_asked_s_ = 0, next_exploration_s_ = 0;
};

/// A rank goes on working after it has stated its load. Returns the fraction of the stated load
/// that probably still remains.
double share_remaining(const Peer& peer, double now_s);

/// Describes a known rank as a borrower.
Borrower borrower_at(const Peer& peer, const PeerLocality& at, const QueueState& queue,
                     const LendingCosts& costs);

}  // namespace poise
