// Lending's decision: how many tasks a rank lends to which others while a step runs.
//
// It is no row of the strategies' table: its problem is one rank's queue and what it heard of the
// others, not a placement of all tasks. The task runtime obeys it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "poise/workload/annotations.h"

namespace poise {

/// A rank that could take tasks.
struct Borrower {
  std::uint32_t rank = 0;
  double busy_s = 0;  // until a thread of it runs dry
  double threads = 1;
  double slowness = 1;  // its seconds for what takes the lender one second
  double delay_s = 0;   // from sending a task to its start there, and its result's way home
  double extra_s = 0;   // the rank's own work per borrowed task: its data in and out
  double byte_s = 0;    // on the way, per byte
  bool asks = false;    // for tasks, now
  double distance = 1;  // the Machine's factor from the lender; infinite to another node
};

/// A task that has not started, as a program's own policy sees it.
struct QueuedTask {
  std::uint64_t name = 0;   // as its submitter named it
  double task_s = 0;        // as far as known, here
  double bytes = 0;         // to another rank and back
  double lend_s = 0;        // the lender's own work if it is lent
  bool borrowed = false;    // from another rank
  bool replicated = false;  // other ranks have copies, or are about to get some
  std::shared_ptr<const Annotations> annotations{};  // null: none
};

struct LendingView {
  double task_s = 0;         // of an average queued task, here
  std::uint32_t queued = 0;  // tasks that have not started
  double busy_s = 0;         // until a thread of this rank is through with what it runs now
  double threads = 1;
  double lend_s = 0;  // this rank's own work per lent task
  std::span<const Borrower> others{};
  // What the functions below do not look at:
  std::uint32_t rank = 0;  // this one
  std::span<const double>
      load_of_rank{};                   // of each, as last heard: tasks, unless it says otherwise
  std::span<const QueuedTask> queue{};  // first to start first, if the policy wants to see it
};

struct Loan {
  std::uint32_t rank = 0;
  std::uint32_t tasks = 0;
  std::vector<std::uint64_t> names{};  // of these tasks; none: of those that would start last
  friend bool operator==(const Loan&, const Loan&) = default;
};

/// A decision in the place of those below; a pure function, called whenever a rank that has tasks
/// to lend looks at its messages and knows of somebody who may take some.
using LendingPolicy = std::function<std::vector<Loan>(const LendingView&)>;

/// The loans after which all queued tasks and their results are done soonest.
///
/// Every rank takes as many tasks as it can finish by the earliest time at which all are through;
/// what fits at home stays, then the nearest ranks are filled first (by distance, of equal ones by
/// delay), so a distant rank gets only what nearer ones could not take in time. Nothing is lent
/// unless the end comes sooner by more than the share min_gain. Fractions of a task do not exist:
/// the result is optimal for equal tasks. O(n) times the bits of a double.
std::vector<Loan> cost_aware_loans(const LendingView& view, double min_gain);

/// Whether the end could come sooner by more than the share min_gain if tasks were as fine as sand:
/// a quick no for most questions.
bool could_gain(const LendingView& view, double min_gain);

/// The same for tasks of the queue that differ, whose names the loans tell: the longest first,
/// which move the most work with the fewest transfers, each to the nearest rank that is through
/// with it before this one is with what it keeps; then one more if that shortens the longer of
/// both. A task stays whose handing over takes this rank as long as the task; a borrowed one goes
/// on to a rank that asks only. O(n log n + n m) for m others.
std::vector<Loan> sized_loans(const LendingView& view, double min_gain);

/// Where neither of these lends anything: a few tasks for one rank, if lending would pay with no
/// more than least_s of either rank's work per task and a borrower as quick as the lender. What was
/// learnt once would be believed for ever, as who lends nothing learns nothing.
std::vector<Loan> loan_to_learn(const LendingView& view, double least_s, double min_gain);

/// When a difference in numbers of tasks is worth a loan, and how large the loan is.
struct CountThresholds {
  double min_local = 2;        // tasks queued at the lender
  double min_absolute = 2;     // difference
  double min_relative = 0.05;  // difference over the larger
  double share = 0.5;          // of the difference, lent at once
  double max_tasks = 1;        // lent at once
};

/// The sort-based choice (Klinkenberg et al. 2020, section 3.4 and figure 1): with ranks sorted by
/// load, the heaviest may give to the lightest, the second to the second, and so on. `tasks` holds
/// the number of queued tasks per rank; ties go by rank. At most one loan.
std::vector<Loan> paired_loans(std::span<const double> tasks, std::uint32_t self,
                               const CountThresholds& thresholds);

/// The simple choice the paper compares with: whoever is above average gives to the lightest rank.
std::vector<Loan> lightest_loans(std::span<const double> tasks, std::uint32_t self,
                                 const CountThresholds& thresholds);

}  // namespace poise
