#include "runtimes/balance/ask.h"

#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "poise/base/error.h"

namespace poise::balance {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

Placement solve(const Question& question) {
  const auto& [workload, current] = question.census;
  check(workload, question.machine.num_places());
  check(current, workload.num_tasks(), question.machine.num_places());
  Placement placement =
      question.choice.rebalance({question.machine, workload, current, question.machine.costs(),
                                 question.seed, question.past_loads_s});
  check(placement, workload.num_tasks(), question.machine.num_places());
  for (const Migration& migration : migrations(current, placement))
    if (!workload.tasks[migration.task].movable)
      fail("it moves task {}, which must stay", migration.task);
  return placement;
}

/// The placement, or nothing when it took longer.
std::optional<Placement> solve_within(std::shared_ptr<const Question> question, double budget_s) {
  const auto start = Clock::now();
  std::packaged_task<Placement()> task([question] { return solve(*question); });
  std::future<Placement> answer = task.get_future();
  std::thread(std::move(task)).detach();
  const auto status = answer.wait_for(Seconds(budget_s));
  if (status != std::future_status::ready || Seconds(Clock::now() - start).count() > budget_s)
    return std::nullopt;
  return answer.get();
}

}  // namespace

Answer ask(const std::shared_ptr<const Question>& question, double budget_s) {
  try {
    if (budget_s == 0) return {solve(*question)};
    if (auto placement = solve_within(question, budget_s)) return {*std::move(placement)};
    return {question->census.current, fmt::format("it took longer than {} s", budget_s)};
  } catch (const std::exception& error) {
    return {question->census.current, error.what()};
  } catch (...) {
    return {question->census.current, "it threw something that is no std::exception"};
  }
}

}  // namespace poise::balance
