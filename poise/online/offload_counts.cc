// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/offload_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "poise/online/offload_policy.h"

namespace poise {

namespace {

// Sorts ranks by load, heaviest last. Ranks of equal load are in ascending order.
std::vector<std::uint32_t> by_load(std::span<const double> tasks) {
  std::vector<std::uint32_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return tasks[a] < tasks[b]; });
  return order;
}

bool worth_it(double mine, double theirs, const CountThresholds& thresholds) {
  return mine - theirs >= thresholds.min_absolute && mine > 0 &&
         (mine - theirs) / mine >= thresholds.min_relative;
}

std::vector<Loan> loan_to(std::span<const double> tasks, std::uint32_t self, std::uint32_t other,
                          const CountThresholds& thresholds) {
  const double mine = tasks[self], theirs = tasks[other];
  if (mine < thresholds.min_local || !worth_it(mine, theirs, thresholds)) return {};
  const double wanted = std::max(1.0, std::floor(thresholds.share * (mine - theirs)));
  return {{other, static_cast<std::uint32_t>(std::min({wanted, thresholds.max_tasks, mine}))}};
}

// Lets `select` choose loans by the number of tasks of each rank, where tasks in flight to a rank
// count as queued there. Index 0 is this rank, index i + 1 is rank i of the problem.
template <typename Select>
std::vector<Loan> loans_by_count(const LoanQuestion& question, const Select& select) {
  const LoanProblem& problem = question.problem;
  std::vector<double> tasks{static_cast<double>(problem.view.queued)};
  for (const LoanProblem::Known& known : problem.known)
    tasks.push_back(known.queued + known.in_flight);
  auto loans = select(tasks, 0, question.thresholds);
  for (Loan& loan : loans) loan.rank = problem.others[loan.rank - 1].rank;
  return loans;
}

}  // namespace

std::vector<Loan> paired_loans(std::span<const double> tasks, std::uint32_t self,
                               const CountThresholds& thresholds) {
  if (tasks.size() < 2) return {};
  const auto order = by_load(tasks);
  const auto position =
      static_cast<std::size_t>(std::find(order.begin(), order.end(), self) - order.begin());
  if (2 * position < order.size()) return {};
  return loan_to(tasks, self, order[order.size() - 1 - position], thresholds);
}

std::vector<Loan> lightest_loans(std::span<const double> tasks, std::uint32_t self,
                                 const CountThresholds& thresholds) {
  if (tasks.size() < 2) return {};
  const double average = std::accumulate(tasks.begin(), tasks.end(), 0.0) / tasks.size();
  if (tasks[self] <= average) return {};
  return loan_to(tasks, self, by_load(tasks).front(), thresholds);
}

std::vector<Loan> offload_paired(const LoanQuestion& question, OffloadMemory&) {
  return loans_by_count(question, paired_loans);
}

std::vector<Loan> offload_lightest(const LoanQuestion& question, OffloadMemory&) {
  return loans_by_count(question, lightest_loans);
}

}  // namespace poise
