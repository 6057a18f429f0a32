// SPDX-License-Identifier: BSD-3-Clause
// Decides when a rank with tasks lends, to which of the ranks that it knows, and how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/online/offload_policy.h"
#include "poise/online/peer_table.h"

namespace poise {

/// Another rank that waits for tasks from this rank.
struct Thief {
  std::uint32_t rank = 0;
  std::uint64_t wait = 0;     // number of the call of `wait` in which the thief sent its request
  double requested_at_s = 0;  // time of the request, on the clock of the rank that asked
  bool is_lasting = false;    // true: remembered until there are tasks, instead of declined
};

/// The ranks that wait for tasks of this rank, in the order of their requests. There are at most
/// kMaxSearched of them, not counting lasting requests. Each rank that has this rank as a partner
/// may have one lasting request.
class Thieves {
 public:
  /// Adds a request. Returns false if it is not stored, because there are too many; the caller must
  /// then decline it. A second request of a rank replaces its first.
  bool add(const Thief& thief);
  const Thief* find(std::uint32_t rank) const;
  /// Removes the request of a rank, if there is one.
  void remove(std::uint32_t rank);
  /// Removes and returns the requests of the given wait that are to be declined.
  std::vector<Thief> take_declined(std::uint64_t wait);
  /// Removes the requests that were sent in earlier waits.
  void enter(std::uint64_t wait);
  bool any(std::uint64_t wait) const;
  std::span<const Thief> all() const { return thieves_; }

 private:
  std::vector<Thief> thieves_;
};

struct LoanSettings {
  const OffloadPolicy* policy = &offload_policies().front();
  bool push = true;  // true: lends also to ranks that have sent no request
  /// True if the program's own policy decides. Such a policy sees all ranks.
  bool takes_all = false;
  double min_gain = 0.1;         // fraction by which loans must shorten the wait
  double batch_bytes = 4 << 20;  // bytes of tasks that may wait at a borrower
  CountThresholds thresholds = {};

  bool sees_all_ranks() const {
    return takes_all || policy->sight == OffloadPolicy::Sight::all_ranks;
  }
};

/// The state of the lender at a decision: the time, the number of the wait (call of `wait`) that it
/// is in, and its number of threads for tasks.
struct LoanMoment {
  double now_s = 0;
  std::uint64_t wait = 0;
  unsigned threads = 1;
};

/// Describes the lender: a view without other ranks.
LendingView view_of_lender(std::uint32_t rank, const QueueState& queue, const LendingCosts& costs,
                           const LoanMoment& moment);

class LoanPolicy {
 public:
  explicit LoanPolicy(const LoanSettings& settings) : settings_(settings) {}

  /// True if a decision is due. If no rank has sent a request, at least kMinPause_s must
  /// have passed since the last decision, and kDecisionCostFactor limits the fraction of time
  /// that these decisions take. If a rank has sent a request, the pause since the last decision
  /// need only be as long as a decision.
  bool is_due(double now_s, bool asked) const {
    return now_s >= (asked ? next_asked_s_ : next_decision_s_);
  }
  /// Notes that a decision has ended at `now_s` and took `cost_s`.
  void decided(double now_s, double cost_s);

  /// Fills `problem` with the view of the lender, and with the ranks to which tasks may be lent:
  /// the ranks that have sent requests and, if the setting `push` is on and the lender has lendable
  /// tasks of its own, other ranks known to be in the same wait for tasks as the lender. Policies
  /// that have to see all ranks get all these other ranks. Other policies get only the
  /// kMaxCandidates of them that will be idle soonest; ties: the nearest.
  void pose(LoanProblem& problem, const QueueState& queue, const PeerTable& peers,
            const Thieves& thieves, const LendingCosts& costs, const LoanMoment& moment) const;

  /// Returns the loans. `named_queue` returns the list of the lendable tasks; it is called only if
  /// the tasks differ in cost and are few enough to be chosen individually.
  std::vector<Loan> loans(const LoanProblem& problem, const QueueState& queue,
                          const LendingCosts& costs, double now_s,
                          const std::function<std::vector<QueuedTask>()>& named_queue);

  /// Returns how many more tasks may be lent to a rank. Lent data occupy memory on both ranks until
  /// the results are back, so at most `batch_bytes` bytes of tasks wait at the borrower or, if
  /// tasks are large, a few tasks per thread.
  std::size_t room_at(const Peer& peer, double task_bytes, double now_s) const;

  const LoanSettings& settings() const { return settings_; }

 private:
  LoanSettings settings_;
  OffloadMemory memory_;
  double next_decision_s_ = 0, next_asked_s_ = 0, last_cost_s_ = 0;
};

/// A rank goes on working after it has reported its load. Returns the fraction of the reported load
/// that probably still remains.
double share_remaining(const Peer& peer, double now_s);

/// Returns a margin in seconds: a busy borrower is assumed to stay busy for this much longer.
/// Without the margin, tasks might be lent early that the lender itself would have started sooner.
///
/// Tasks of unequal times may take longer or shorter than expected, so it may be wrong to lend a
/// task before the borrower is idle. A wrong loan delays this task by about its own time t. To lend
/// the task only when the borrower is idle costs the delay d of the loan. So the early loan pays if
/// the probability P that it is wrong satisfies P t <= (1 - P) d. If the difference of both ranks'
/// busy times has the mean x and the standard deviation s, then P <= s^2 / (s^2 + x^2) by
/// Cantelli's inequality. So x must be at least s sqrt(t / d), which this function returns. It
/// returns 0 for an idle borrower and for tasks of equal times.
double doubt_s(const Borrower& other, double tasks_there, const QueueState& queue, double threads);

/// Describes a known rank as a borrower. Its slowness is learnt from the results that it returns.
/// Until the first result, its slowness is guessed (LendingCosts::guessed_slowness). There is one
/// exception: if the borrower requests tasks and has lent some to this rank, and all tasks here are
/// borrowed, the borrower's slowness follows from the mean task time that it reported. So the tasks
/// can return to the borrower if this rank is slower.
Borrower borrower_at(const Peer& peer, bool asks, const PeerLocality& at, const QueueState& queue,
                     const LendingCosts& costs);

}  // namespace poise
