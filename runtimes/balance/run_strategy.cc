// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/balance/run_strategy.h"

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <utility>

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/placement/answer.h"

namespace poise::balance {

namespace {

using Seconds = std::chrono::duration<double>;

Placement solve(const OwnedProblem& problem) {
  const auto& [workload, current] = problem.phase;
  check(workload, problem.machine.num_places());
  check(current, workload.num_tasks(), problem.machine.num_places());
  const Problem view{problem.machine,         workload,     current,
                     problem.machine.costs(), problem.seed, problem.past_loads_s};
  Placement placement = problem.choice.rebalance(view);
  check_answer(view, placement);
  return placement;
}

/// A budget above this limit counts as no limit, because a 64-bit clock in nanoseconds overflows
/// after 292 years.
constexpr double kMaxBudget_s = 1e9;

/// A detached thread whose priority can be lowered as long as it runs. The handle of a detached
/// thread that has ended must not be used, so the thread clears the handle before it ends.
class Worker {
 public:
  template <typename Work>
  static std::shared_ptr<Worker> start(Work work) {
    auto worker = std::make_shared<Worker>();
    const std::lock_guard lock(worker->mutex_);
    std::thread thread([worker, work = std::move(work)]() mutable {
      work();
      const std::lock_guard end(worker->mutex_);
      worker->handle_.reset();
    });
    worker->handle_ = thread.native_handle();
    thread.detach();
    return worker;
  }

  /// From now on, the thread and the threads that it starts run only on cores that are idle.
  void yield_to_others() {
    const std::lock_guard lock(mutex_);
    const sched_param none = {};
    if (handle_) pthread_setschedparam(*handle_, SCHED_IDLE, &none);
  }

 private:
  std::mutex mutex_;
  std::optional<pthread_t> handle_;
};

/// Returns the strategy's placement, or nothing if it took longer than `budget_s`.
std::optional<Placement> solve_within(std::shared_ptr<const OwnedProblem> problem,
                                      double budget_s) {
  const double end_s = wall_now_s() + budget_s;
  std::packaged_task<Placement()> task([problem] { return solve(*problem); });
  std::future<Placement> result = task.get_future();
  const std::shared_ptr<Worker> worker = Worker::start(std::move(task));
  const auto status = result.wait_for(Seconds(budget_s));
  if (status == std::future_status::ready && wall_now_s() <= end_s) return result.get();
  worker->yield_to_others();
  return std::nullopt;
}

std::size_t num_running(Overdue& overdue) {
  std::erase_if(overdue, [](const auto& problem) { return problem.expired(); });
  return overdue.size();
}

}  // namespace

Outcome run_strategy(const std::shared_ptr<const OwnedProblem>& problem, double budget_s,
                     Overdue* overdue) {
  try {
    if (budget_s == 0 || budget_s > kMaxBudget_s) return {solve(*problem)};
    if (overdue != nullptr && num_running(*overdue) >= kMaxOverdue)
      return {problem->phase.current,
              fmt::format("{} earlier decisions, which exceeded their budget (POISE_BUDGET), are "
                          "still running",
                          kMaxOverdue)};
    if (auto placement = solve_within(problem, budget_s)) return {*std::move(placement)};
    if (overdue != nullptr) overdue->push_back(problem);
    return {
        problem->phase.current,
        fmt::format("the decision took longer than its budget of {} s (POISE_BUDGET)", budget_s)};
  } catch (const std::exception& error) {
    return {problem->phase.current, error.what()};
  } catch (...) {
    return {problem->phase.current, "it threw something that is not a std::exception"};
  }
}

}  // namespace poise::balance
