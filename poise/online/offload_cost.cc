// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cmath>
#include <utility>

#include "poise/online/lending_tuning.h"
#include "poise/online/offload_policy.h"

namespace poise {

namespace {

// Returns loans of tasks whose run time is unknown. The lender keeps one task for each of its
// threads, minus the threads that pinned tasks will occupy. It keeps none for a thread whose task
// has been running for longer than lending takes, because the task may be long or this rank may be
// slow. Each idle rank that has sent a request gets one task per thread of its own.
//
// The idle ranks get more tasks in two cases. First, if a thread of the lender is about to start a
// task of unknown time, the idle ranks share what can be lent in kNewsDelay_s equally. The reason
// is that this task may be long, and a lender without a progress thread answers no request while
// the task runs. If the task turns out to be short, the lender requests tasks itself. Second, while
// tasks of unknown time run, the queued tasks are assumed to take at least as long as the running
// tasks have taken so far. So the idle ranks share what can be lent in this time equally.
std::vector<Loan> loans_to_learn_times(const LoanProblem& problem, const QueueState& queue,
                                       const LendingCosts& costs) {
  std::vector<const Borrower*> idle;
  for (std::size_t i = 0; i < problem.others.size(); ++i)
    if (problem.known[i].queued == 0 && problem.known[i].in_flight == 0)
      idle.push_back(&problem.others[i]);
  const double threads = problem.view.threads;
  const double pinned = queue.queued - queue.lendable;
  const bool starts_one = queue.running < threads;
  const double elapsed_s = queue.running_s / threads;
  const double lend_s = costs.overhead_s(queue, queue.mean_bytes());
  const double affordable =
      std::max(starts_one ? lending_tuning::kNewsDelay_s : 0, elapsed_s) / lend_s;
  const double busy = elapsed_s >= lend_s ? queue.running : 0;
  double remaining = queue.lendable - std::max(0.0, threads - busy - pinned);
  const double part = std::floor(std::min(remaining, affordable) / idle.size());
  std::vector<Loan> loans;
  for (const Borrower* const other : idle) {
    const double tasks = std::min(remaining, std::max(part, other->threads));
    if (tasks >= 1 && other->asks)
      loans.push_back({other->rank, static_cast<std::uint32_t>(tasks)});
    remaining -= tasks;
  }
  return loans;
}

// Returns the seconds that exploratory loans waste if it turns out that lending does not pay: the
// overhead of the lender, and the additional run time on a borrower that is slower.
double exploration_cost_s(const std::vector<Loan>& loans, const LendingView& view) {
  double seconds = 0;
  for (const Loan& loan : loans)
    for (const Borrower& other : view.others)
      if (other.rank == loan.rank)
        seconds += loan.tasks * (view.lend_s + view.task_s * std::max(0.0, other.slowness - 1));
  return seconds;
}

// If tasks differ in cost, they are chosen individually, because their number says little about the
// work.
std::vector<Loan> loans_by_cost(const LoanQuestion& question, OffloadMemory& memory) {
  const auto& [problem, queue, costs, now_s, min_gain, thresholds, named_queue] = question;
  const LendingView& view = problem.view;
  const bool sized = queue.tasks_differ && queue.lendable <= lending_tuning::kMaxTasksBySize;
  if (sized && !could_gain(view, min_gain)) return {};
  std::vector<QueuedTask> tasks;
  if (sized) tasks = named_queue();
  for (QueuedTask& task : tasks) task.lend_s = costs.overhead_s(queue, task.bytes);
  LendingView whole = view;
  whole.queue = tasks;
  auto loans = sized ? sized_loans(whole, min_gain) : cost_aware_loans(view, min_gain);
  if (!memory.explored_s) memory.explored_s = now_s;
  if (!loans.empty() || now_s < memory.next_exploration_s) return loans;
  memory.next_exploration_s = now_s + lending_tuning::kMaxPause_s;
  loans = exploration_loans(whole, TaskOverhead().seconds(queue.mean_bytes()), min_gain);
  // An exploratory loan may waste a fixed fraction of the time since the last exploratory loan. The
  // first one may waste this fraction of the time since the first decision. So the first
  // exploratory loan is not made at once, and a rank that has just proved slow is not tried again
  // at once.
  const double saved_s = lending_tuning::kWastedShare * (now_s - *memory.explored_s);
  if (loans.empty() || exploration_cost_s(loans, view) > saved_s) return {};
  memory.explored_s = now_s;
  return loans;
}

}  // namespace

std::vector<Loan> offload_cost(const LoanQuestion& question, OffloadMemory& memory) {
  return question.queue.all_times_known
             ? loans_by_cost(question, memory)
             : loans_to_learn_times(question.problem, question.queue, question.costs);
}

}  // namespace poise
