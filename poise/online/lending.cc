// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/lending.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "poise/online/lending_tuning.h"

namespace poise {

namespace {

std::pair<double, double> nearness(const Borrower& other) {
  return {other.distance, other.delay_s};
}

std::vector<const Borrower*> nearest_first(std::span<const Borrower> others) {
  std::vector<const Borrower*> order;
  for (const Borrower& other : others) order.push_back(&other);
  std::stable_sort(order.begin(), order.end(), [](const Borrower* a, const Borrower* b) {
    return nearness(*a) < nearness(*b);
  });
  return order;
}

double seconds_each(const LendingView& view, const Borrower& other) {
  return view.task_s * other.slowness / other.threads + other.extra_s;
}

// Number of tasks that the borrower `other` can finish early enough for their results to be back by
// end_s.
double lent_by(const LendingView& view, const Borrower& other, double end_s) {
  const double room_s = end_s - other.busy_s - other.delay_s;
  if (room_s <= 0) return 0;
  // Each thread runs whole tasks only, and the data of the tasks are transferred one after the
  // other.
  const double each = view.task_s * other.slowness;
  double tasks = std::floor(room_s / seconds_each(view, other));
  while (tasks > 0 && other.extra_s * tasks + std::ceil(tasks / other.threads) * each > room_s)
    tasks -= 1;
  return std::min<double>(tasks, view.queued);
}

// Number of tasks that this rank can finish by end_s while it sends `lent` tasks away.
double kept_by(const LendingView& view, double lent, double end_s) {
  const double room_s = end_s - view.busy_s - view.lend_s * lent / view.threads;
  if (room_s <= 0) return 0;
  return std::floor(room_s / view.task_s) * view.threads;
}

// Returns the time at which a borrower has finished `tasks` lent tasks and the lender has received
// the last result.
double lent_end_s(const LendingView& view, const Borrower& other, double tasks) {
  return other.busy_s + other.delay_s + other.extra_s * tasks +
         std::ceil(tasks / other.threads) * view.task_s * other.slowness;
}

// Returns the time at which all tasks would be finished if tasks could be divided arbitrarily;
// whole tasks never finish sooner. One scan over the ranks, sorted by the time from which they can
// work, finds this time. Each task that is lent costs the lender lend_s. So the result is the same
// as if the lender first spent lend_s on every task, and then only task_s - lend_s on each task
// that it keeps.
double divisible_end_s(const LendingView& view) {
  // For each rank, the time in seconds at which it is free for further tasks, and how many tasks
  // per second it runs from then on.
  std::vector<std::pair<double, double>> ranks;
  ranks.emplace_back(view.busy_s + view.lend_s * view.queued / view.threads,
                     view.threads / (view.task_s - view.lend_s));
  for (const Borrower& other : view.others)
    ranks.emplace_back(other.busy_s + other.delay_s, 1 / seconds_each(view, other));
  std::ranges::sort(ranks);
  double speed = 0, tasks = view.queued;
  for (const auto& [begin_s, more] : ranks) {
    if (speed > 0 && begin_s * speed >= tasks) break;
    tasks += begin_s * more;
    speed += more;
  }
  return tasks / speed;
}

// Finds the earliest time by which all tasks can be finished if tasks cannot be divided. The search
// starts at the end time for divisible tasks and steps from the end of one task to the next, until
// all tasks can be finished by the time reached. At the starting time, less than one task per
// thread is left over, so about one step per thread is enough.
class WholeTasks {
 public:
  WholeTasks(const LendingView& view, double from_s) : view_(view), end_s_(from_s) {
    for (const Borrower& other : view.others) {
      const double tasks = lent_by(view, other, from_s);
      lent_ += tasks;
      ends_.push_back({0, tasks, &other});
      set_next(ends_.back());
    }
    std::ranges::make_heap(ends_, std::greater<>());
  }
  double end_s() const { return end_s_; }
  bool all_done() const { return own_end_s() <= end_s_ + slack_s(); }
  void next() {
    const double own_s = own_end_s();
    if (ends_.empty() || own_s <= ends_.front().at_s) {
      end_s_ = own_s;
      return;
    }
    std::ranges::pop_heap(ends_, std::greater<>());
    Next& next = ends_.back();
    end_s_ = std::max(end_s_, next.at_s);
    lent_ += next.more;
    next.tasks += next.more;
    set_next(next);
    std::ranges::push_heap(ends_, std::greater<>());
  }
  // If two end times differ by less than this, they count as equal, because the difference is only
  // rounding.
  double slack_s() const { return 1e-12 * (view_.busy_s + view_.queued * view_.task_s); }

 private:
  struct Next {
    double at_s;
    double tasks;  // finished before
    const Borrower* other;
    double more = 0;  // number of tasks that end at at_s
    bool operator>(const Next& than) const { return at_s > than.at_s; }
  };
  // Returns the time at which this rank will have finished the tasks that other ranks cannot finish
  // by end_s_. Each of its threads runs a whole number of tasks, so it keeps a multiple of the
  // number of threads, rounded up, and lends only the rest.
  double own_end_s() const {
    const double rows = std::ceil(std::max(0.0, view_.queued - lent_) / view_.threads);
    if (rows == 0) return 0;
    const double lent = std::max(0.0, view_.queued - rows * view_.threads);
    return view_.busy_s + view_.lend_s * lent / view_.threads + rows * view_.task_s;
  }
  // Sets the time at_s at which the borrower's next tasks end, and the number of tasks that end
  // then. If transfers take no time, up to one task per thread ends at the same time. Otherwise one
  // task ends at a time.
  void set_next(Next& next) const {
    const double threads = next.other->threads;
    const bool is_row = next.other->extra_s == 0;
    next.more = is_row ? threads * (std::floor(next.tasks / threads) + 1) - next.tasks : 1;
    next.at_s = lent_end_s(view_, *next.other, next.tasks + next.more);
  }

  const LendingView& view_;
  double end_s_, lent_ = 0;
  std::vector<Next> ends_;  // a heap, the earliest end first
};

// The state of a borrower while loans of unequal tasks are chosen.
struct Taker {
  const Borrower* other;
  double end_s;  // time at which the rank finishes the tasks that it has so far
  std::vector<std::uint64_t> names;

  double end_after(const QueuedTask& task) const {
    return end_s + task.task_s * other->slowness / other->threads + task.bytes * other->byte_s;
  }
};

// A borrowed task is lent again only to a rank that requests tasks; otherwise it could move
// forever.
bool may_have(const Taker& taker, const QueuedTask& task) {
  return taker.other->asks || !task.borrowed;
}

// Returns the time at which this rank finishes its remaining tasks if it lends this task.
double own_after(const LendingView& view, const QueuedTask& task, double own_s) {
  return own_s + (task.lend_s - task.task_s) / view.threads;
}

Taker* nearest_in_time(std::vector<Taker>& takers, const QueuedTask& task, double end_s) {
  Taker* best = nullptr;
  for (Taker& taker : takers) {
    const double its_end_s = taker.end_after(task);
    if (its_end_s > end_s || !may_have(taker, task)) continue;
    if (!best || std::pair(nearness(*taker.other), its_end_s) <
                     std::pair(nearness(*best->other), best->end_after(task)))
      best = &taker;
  }
  return best;
}

// Chooses a task and a borrower for one further loan, so that the later of the lender and this
// borrower finishes as early as possible. Returns null if with every loan one of the two would
// finish no earlier than the lender does without this loan. If several choices are equally good,
// chooses the first task and the first borrower.
std::pair<const QueuedTask*, Taker*> last_to_lend(const LendingView& view,
                                                  const std::vector<const QueuedTask*>& tasks,
                                                  std::vector<Taker>& takers, double own_s) {
  std::pair<const QueuedTask*, Taker*> best{};
  double soonest_s = own_s;
  for (const QueuedTask* task : tasks)
    for (Taker& taker : takers) {
      const double end_s = std::max(own_after(view, *task, own_s), taker.end_after(*task));
      if (end_s >= soonest_s || !may_have(taker, *task)) continue;
      soonest_s = end_s;
      best = {task, &taker};
    }
  return best;
}

}  // namespace

std::vector<Loan> cost_aware_loans(const LendingView& view, double min_gain, std::size_t* steps) {
  if (view.queued == 0 || view.others.empty() || view.task_s <= 0) return {};
  if (view.lend_s >= view.task_s) return {};  // sending a task takes at least as long as running it
  const double alone_s = view.busy_s + std::ceil(view.queued / view.threads) * view.task_s;
  const double limit_s = alone_s * (1 - min_gain);
  WholeTasks whole(view, divisible_end_s(view));
  std::size_t taken = view.others.size();
  for (; !whole.all_done() && whole.end_s() <= limit_s; ++taken) whole.next();
  if (steps) *steps = taken;
  const double end_s = whole.end_s() + whole.slack_s();
  if (whole.end_s() > limit_s) return {};
  // Number of tasks that this rank cannot finish by end_s and therefore lends. Each loan takes time
  // from the rank's own tasks and so increases this number. The loop repeats until the number no
  // longer changes.
  double to_lend = 0, more = view.queued - kept_by(view, 0, end_s);
  while (more > to_lend && to_lend < view.queued) {
    to_lend = more;
    more = view.queued - kept_by(view, to_lend, end_s);
  }
  std::vector<Loan> loans;
  for (const Borrower* other : nearest_first(view.others)) {
    const double tasks = std::min(to_lend, lent_by(view, *other, end_s));
    if (tasks > 0) loans.push_back({other->rank, static_cast<std::uint32_t>(tasks)});
    to_lend -= tasks;
  }
  return loans;
}

bool could_gain(const LendingView& view, double min_gain) {
  const double alone_s = view.busy_s + view.queued * view.task_s / view.threads;
  // For each other rank, the time in seconds at which it is free for further tasks, and how much
  // work per second it does from then on.
  std::vector<std::pair<double, double>> others;
  for (const Borrower& other : view.others)
    others.emplace_back(other.busy_s + other.delay_s, other.threads / other.slowness);
  std::sort(others.begin(), others.end());
  double work_s = alone_s * view.threads, threads = view.threads;
  for (const auto& [begin_s, speed] : others) {
    if (begin_s * threads >= work_s) break;
    work_s += begin_s * speed;
    threads += speed;
  }
  return work_s / threads < alone_s * (1 - min_gain);
}

std::vector<Loan> sized_loans(const LendingView& view, double min_gain) {
  std::vector<const QueuedTask*> tasks;
  double own_s = view.busy_s;
  for (const QueuedTask& task : view.queue) {
    own_s += task.task_s / view.threads;
    if (task.lend_s < task.task_s) tasks.push_back(&task);
  }
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const QueuedTask* a, const QueuedTask* b) { return a->task_s > b->task_s; });
  std::vector<Taker> takers;
  for (const Borrower* other : nearest_first(view.others))
    takers.push_back({other, other->busy_s + other->delay_s, {}});
  const double alone_s = own_s;
  const auto lend = [&](const QueuedTask& task, Taker& to) {
    own_s = own_after(view, task, own_s);
    to.end_s = to.end_after(task);
    to.names.push_back(task.name);
  };
  for (const QueuedTask*& task : tasks) {
    Taker* const to = nearest_in_time(takers, *task, own_after(view, *task, own_s));
    if (to) lend(*std::exchange(task, nullptr), *to);
  }
  std::erase(tasks, nullptr);
  if (const auto [task, to] = last_to_lend(view, tasks, takers, own_s); task) lend(*task, *to);
  std::erase_if(takers, [](const Taker& taker) { return taker.names.empty(); });
  double end_s = own_s;
  for (const Taker& taker : takers) end_s = std::max(end_s, taker.end_s);
  if (end_s > alone_s * (1 - min_gain)) return {};
  std::vector<Loan> loans;
  for (Taker& taker : takers)
    loans.emplace_back(taker.other->rank, taker.names.size(), std::move(taker.names));
  return loans;
}

bool is_bottleneck(const LendingView& view, std::uint32_t num_ranks) {
  const double task_s = view.task_s > 0 ? view.task_s : view.busy_s;
  return task_s > 0 && view.lend_s * std::min(num_ranks, view.queued) > task_s;
}

std::vector<Loan> exploration_loans(const LendingView& view, double least_s, double min_gain) {
  std::vector<Borrower> others(view.others.begin(), view.others.end());
  for (Borrower& other : others) {
    other.extra_s = std::min(other.extra_s, least_s);
    other.slowness = std::min(other.slowness, 1.0);
  }
  std::vector<QueuedTask> queue(view.queue.begin(), view.queue.end());
  for (QueuedTask& task : queue) task.lend_s = std::min(task.lend_s, least_s);
  LendingView hoped = view;
  hoped.others = others;
  hoped.queue = queue;
  hoped.lend_s = std::min(view.lend_s, least_s);
  auto loans = queue.empty() ? cost_aware_loans(hoped, min_gain) : sized_loans(hoped, min_gain);
  if (loans.empty()) return {};
  Loan& loan = loans.front();
  loan.tasks = std::min<double>(loan.tasks, 1 / lending_tuning::kMaxWeight);
  if (!loan.names.empty()) loan.names.resize(loan.tasks);
  return {std::move(loan)};
}

}  // namespace poise
