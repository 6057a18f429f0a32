// SPDX-License-Identifier: BSD-3-Clause
// Runs a strategy inside a running job. The job continues even if the strategy fails.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "poise/strategies/strategy.h"

namespace poise::balance {

/// One measured phase of a run: the load of every task, the messages, and each task's place.
struct MeasuredPhase {
  Workload workload;
  Placement current;
};

/// A Problem that owns its parts, because a strategy that exceeds its time budget keeps using it in
/// the background after the call has returned.
struct OwnedProblem {
  Machine machine;
  MeasuredPhase phase;
  std::vector<std::vector<double>> past_loads_s = {};  // as in Problem
  Choice choice;
  std::uint64_t seed = 1;
};

/// The outcome of a strategy's run. The placement is always valid.
struct Outcome {
  Placement placement;
  // If the strategy failed, the reason why the current placement is returned; otherwise empty.
  std::string trouble = {};
};

/// The problems of strategies that exceeded their budgets. Each exists as long as its strategy
/// runs.
using Overdue = std::vector<std::weak_ptr<const OwnedProblem>>;
/// Maximum number of strategies that run beyond their budgets at the same time. The limit is above
/// 1, because an overdue strategy runs only while a core is idle, so on a busy host it may run for
/// hours.
inline constexpr std::size_t kMaxOverdue = 4;

/// Runs the strategy and checks its placement. Returns the current placement if the strategy
/// throws, returns an invalid placement, moves a task that must stay, or exceeds `budget_s` seconds
/// (0: no limit). A strategy that exceeds the budget keeps running in a detached thread, which then
/// takes only the time of idle cores (SCHED_IDLE), and its placement is discarded. If a caller
/// passes the same `overdue` to all its calls, at most kMaxOverdue such threads run: while
/// kMaxOverdue of them run, further calls return the current placement. Otherwise the threads and
/// their problems would pile up.
Outcome run_strategy(const std::shared_ptr<const OwnedProblem>& problem, double budget_s,
                     Overdue* overdue = nullptr);

}  // namespace poise::balance
