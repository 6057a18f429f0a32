#include "poise/strategies/lending.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace poise {

namespace {

double seconds_each(const LendingView& view, const Borrower& other) {
  return view.task_s * other.slowness / other.threads + other.extra_s;
}

// Tasks the other can have done, with results at home, by end_s.
double lent_by(const LendingView& view, const Borrower& other, double end_s) {
  const double room_s = end_s - other.busy_s - other.delay_s;
  if (room_s <= 0) return 0;
  // A thread runs whole tasks only; the data of all of them comes one after the other.
  const double each = view.task_s * other.slowness;
  double tasks = std::floor(room_s / seconds_each(view, other));
  while (tasks > 0 && other.extra_s * tasks + std::ceil(tasks / other.threads) * each > room_s)
    tasks -= 1;
  return std::min(tasks, static_cast<double>(view.queued));
}

// Tasks this rank can have done by end_s although it also sends `lent` away.
double kept_by(const LendingView& view, double lent, double end_s) {
  const double room_s = end_s - view.busy_s - view.lend_s * lent / view.threads;
  if (room_s <= 0) return 0;
  return std::floor(room_s / view.task_s) * view.threads;
}

bool all_done_by(const LendingView& view, double end_s) {
  double lent = 0;
  for (const Borrower& other : view.others) lent += lent_by(view, other, end_s);
  lent = std::min(lent, static_cast<double>(view.queued));
  return lent + kept_by(view, lent, end_s) >= view.queued;
}

// Heaviest last; ties by rank.
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
  if (other == self || mine < thresholds.min_local || !worth_it(mine, theirs, thresholds))
    return {};
  const double wanted = std::max(1.0, std::floor(thresholds.share * (mine - theirs)));
  return {{other, static_cast<std::uint32_t>(std::min({wanted, thresholds.max_tasks, mine}))}};
}

}  // namespace

std::vector<Loan> cost_aware_loans(const LendingView& view, double min_gain) {
  if (view.queued == 0 || view.others.empty() || view.task_s <= 0) return {};
  if (view.lend_s >= view.task_s) return {};  // handing a task over takes longer than doing it
  const double alone_s = view.busy_s + std::ceil(view.queued / view.threads) * view.task_s;
  double too_soon_s = 0, end_s = alone_s * (1 - min_gain);
  if (!all_done_by(view, end_s)) return {};
  while (end_s - too_soon_s > 1e-12 * alone_s) {
    const double middle_s = too_soon_s + (end_s - too_soon_s) / 2;
    (all_done_by(view, middle_s) ? end_s : too_soon_s) = middle_s;
  }
  std::vector<const Borrower*> nearest;
  for (const Borrower& other : view.others) nearest.push_back(&other);
  std::stable_sort(nearest.begin(), nearest.end(),
                   [](const Borrower* a, const Borrower* b) { return a->delay_s < b->delay_s; });
  // What does not fit at home; the more is lent, the less time is left for one's own tasks.
  double to_lend = 0, more = view.queued - kept_by(view, 0, end_s);
  while (more > to_lend && to_lend < view.queued) {
    to_lend = more;
    more = view.queued - kept_by(view, to_lend, end_s);
  }
  std::vector<Loan> loans;
  for (const Borrower* other : nearest) {
    const double tasks = std::min(to_lend, lent_by(view, *other, end_s));
    if (tasks > 0) loans.push_back({other->rank, static_cast<std::uint32_t>(tasks)});
    to_lend -= tasks;
  }
  return loans;
}

std::vector<Loan> paired_loans(std::span<const double> tasks, std::uint32_t self,
                               const CountThresholds& thresholds) {
  if (tasks.size() < 2) return {};
  const auto order = by_load(tasks);
  const double heaviest = tasks[order.back()], lightest = tasks[order.front()];
  if (tasks[self] - lightest < thresholds.min_absolute || heaviest <= 0 ||
      (heaviest - lightest) / heaviest < thresholds.min_relative)
    return {};
  const auto position =
      static_cast<std::size_t>(std::find(order.begin(), order.end(), self) - order.begin());
  if (2 * position < order.size()) return {};
  return loan_to(tasks, self, order[order.size() - 1 - position], thresholds);
}

std::vector<Loan> lightest_loans(std::span<const double> tasks, std::uint32_t self,
                                 const CountThresholds& thresholds) {
  if (tasks.size() < 2) return {};
  const double average =
      std::accumulate(tasks.begin(), tasks.end(), 0.0) / static_cast<double>(tasks.size());
  if (tasks[self] <= average) return {};
  return loan_to(tasks, self, by_load(tasks).front(), thresholds);
}

}  // namespace poise
