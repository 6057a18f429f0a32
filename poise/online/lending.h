// SPDX-License-Identifier: BSD-3-Clause
// Decides how many tasks a rank lends, and to which ranks, during a step.
// To lend a task is to offload it to another rank that returns its result. These decisions are not
// in the table of strategies, because they use one rank's queue and what it knows about other
// ranks, not a placement of all tasks. The task runtime carries them out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "poise/workload/annotations.h"

namespace poise {

/// A rank that could run tasks of this rank.
struct Borrower {
  std::uint32_t rank = 0;
  double busy_s = 0;  // seconds until one of the rank's threads is idle
  double threads = 1;
  double slowness = 1;  // this rank's run time of a task divided by the lender's run time
  /// Seconds from sending a task to its start on the borrower, plus the seconds that its result
  /// takes to return.
  double delay_s = 0;
  /// Seconds that the borrower works per borrowed task: receiving data, sending results.
  double extra_s = 0;
  double byte_s = 0;  // seconds per byte transferred
  bool asks = false;  // the rank has sent a steal request
  /// The machine's latency factor from the lender to the borrower; infinite if the borrower is on
  /// another node.
  double distance = 1;
};

/// A queued task that has not started, as sized_loans() and a program's own policy see it.
struct QueuedTask {
  std::uint64_t name = 0;   // a number that the submitter gave the task
  double task_s = 0;        // estimated run time of the task on this rank
  double bytes = 0;         // bytes transferred to the other rank and back
  double lend_s = 0;        // seconds that the lender works to lend the task
  bool borrowed = false;    // the task came from another rank
  bool replicated = false;  // other ranks have, or will soon have, copies of the task's data
  std::shared_ptr<const Annotations> annotations{};  // null: none
};

struct LendingView {
  double task_s = 0;         // mean time of the queued tasks, on this rank
  std::uint32_t queued = 0;  // number of this rank's tasks that have not started
  double busy_s = 0;         // seconds until a thread of this rank finishes its current task
  double threads = 1;
  double lend_s = 0;  // seconds for which lending one task occupies this rank
  std::span<const Borrower> others{};
  // Only a program's own policy uses `rank` and `load_of_rank`; the functions below ignore them.
  std::uint32_t rank = 0;  // this rank
  /// For each rank, the last load that this rank has learnt, as a number of tasks unless the policy
  /// defines another unit.
  std::span<const double> load_of_rank{};
  /// Queued tasks in the order in which they would start; empty if only their number is needed.
  std::span<const QueuedTask> queue{};
};

struct Loan {
  std::uint32_t rank = 0;
  std::uint32_t tasks = 0;
  std::vector<std::uint64_t> names{};  // tasks to lend; empty: those that would start last
  friend bool operator==(const Loan&, const Loan&) = default;
};

/// A program's policy, used instead of the functions below. It must be pure. It is called whenever
/// a rank with tasks to lend polls for messages and knows of a rank that may take some.
using LendingPolicy = std::function<std::vector<Loan>(const LendingView&)>;

/// Returns the loans with which all queued tasks finish, and all results return, soonest. First
/// finds the earliest time T by which all ranks together can finish the tasks. The lender keeps the
/// tasks that it can finish by T. Of the remaining tasks, the nearest rank gets as many as it can
/// finish by T, then the next nearest rank, and so on. Of equally near ranks, the one with the
/// shorter delay comes first. So a distant rank gets only what nearer ranks cannot finish by T.
/// Nothing is lent unless T is earlier than the lender's end without loans by more than the
/// fraction min_gain. Optimal for equal tasks. O((n + threads of all n ranks) log n): one sorted
/// scan finds T for divisible tasks, and from there on whole tasks are counted one at a time. If
/// `steps` is not null, it is set to the number of ranks scanned plus tasks counted.
std::vector<Loan> cost_aware_loans(const LendingView& view, double min_gain,
                                   std::size_t* steps = nullptr);

/// A quick test before cost_aware_loans(). Returns false if lending could not shorten the time by
/// more than the fraction min_gain, even if tasks could be divided arbitrarily.
bool could_gain(const LendingView& view, double min_gain);

/// Like cost_aware_loans(), but for tasks of unequal cost; the loans name the tasks. Starts with
/// the longest tasks, because they move the most work in the fewest transfers. Lends a task to the
/// nearest rank that would finish it before this rank finishes its remaining tasks. At the end,
/// lends one more task if this rank and the borrower would then both finish sooner than this rank
/// does without that loan. Never lends a task that takes this rank at least as long to send as to
/// run. Lends a borrowed task only to a rank that requests tasks. O(n log n + n m) for n tasks and
/// m other ranks.
std::vector<Loan> sized_loans(const LendingView& view, double min_gain);

/// True if this rank needs longer to lend one task to each of `num_ranks` ranks (or to lend all
/// queued tasks, if they are fewer) than a task takes to run. Then this rank cannot keep that many
/// ranks busy, so its own CPU time decides when all tasks are finished. While the run time of a
/// task is unknown, the time that the running tasks have taken so far is used instead.
bool is_bottleneck(const LendingView& view, std::uint32_t num_ranks);

/// Exploration: if the functions above lend nothing, lends a few tasks to one rank to measure the
/// cost. It does so only if lending would pay in the best case: the lender spends at most least_s
/// to lend a task, the borrower at most least_s to receive it, and the borrower is at least as fast
/// as the lender. Without exploration a bad measurement would be kept forever, because a rank that
/// lends nothing measures nothing.
std::vector<Loan> exploration_loans(const LendingView& view, double least_s, double min_gain);

}  // namespace poise
