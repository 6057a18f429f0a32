// Asks a strategy inside a running job: whatever it does, the job goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "poise/strategies/strategy.h"

namespace poise::balance {

/// What a runtime measured in one phase: tasks in their order, and where they are.
struct Census {
  Workload workload;
  Placement current;
};

/// A problem that owns its parts, so that a strategy that overruns can be left to itself.
struct Question {
  Machine machine;
  Census census;
  std::vector<std::vector<double>> past_loads_s = {};  // as in Problem
  Choice choice;
  std::uint64_t seed = 1;
};

struct Answer {
  Placement placement;
  std::string trouble = {};  // why it is the current one; empty: all went well
};

/// The placement, checked, or the current one where the strategy throws, answers nonsense, or takes
/// longer than `budget_s` (0: it may take any time). A strategy that overruns goes on in a thread
/// of its own, and nobody reads its answer.
Answer ask(const std::shared_ptr<const Question>& question, double budget_s);

}  // namespace poise::balance
