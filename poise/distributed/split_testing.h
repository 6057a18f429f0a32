// SPDX-License-Identifier: BSD-3-Clause
// For tests: splits a workload into the parts that the ranks of a distributed decision
// know.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "poise/distributed/plan.h"
#include "poise/distributed/simulated_testing.h"
#include "poise/placement/problem.h"

namespace poise {

/// The ids of the tasks in split problems. The ids are neither consecutive nor in the order of
/// tasks.
inline std::uint64_t id_of(TaskId t) { return std::uint64_t{t} * 0x9e3779b97f4a7c15; }

inline std::vector<OwnArrays> split(const Problem& problem) {
  const Workload& workload = problem.workload;
  std::vector<std::vector<const Message*>> sent(workload.tasks.size());
  for (const Message& message : workload.messages) sent[message.from].push_back(&message);
  std::vector<OwnArrays> ranks(problem.machine.num_places());
  for (std::size_t p = 0; p < workload.background_s.size(); ++p)
    ranks[p].background_s = workload.background_s[p];
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    OwnArrays& own = ranks[problem.current.of(t)];
    own.ids.push_back(id_of(t));
    own.load_s.push_back(workload.tasks[t].load_s);
    own.bytes.push_back(workload.tasks[t].bytes);
    own.pinned.push_back(workload.tasks[t].movable ? 0 : 1);
    for (const Message* message : sent[t]) {
      own.to.push_back(id_of(message->to));
      own.to_rank.push_back(problem.current.of(message->to));
      own.counts.push_back(message->count);
      own.message_bytes.push_back(message->bytes);
    }
    own.first.push_back(own.to.size());
  }
  return ranks;
}

/// The plans of all ranks, and the error of each rank (empty if it had none).
struct Outcomes {
  std::vector<DistributedPlan> plans;
  std::vector<std::string> errors;
};

inline Outcomes plan_on(SimulatedRanks& simulated, const Machine& machine,
                        const std::vector<OwnArrays>& own, bool knows_ranks = true,
                        const DistributedLimits& limits = {},
                        std::string_view strategy_text = "poise") {
  Outcomes outcomes{std::vector<DistributedPlan>(own.size()), std::vector<std::string>(own.size())};
  const Choice strategy = parse_strategy(strategy_text);
  simulated.run([&](const poise_communication& table) {
    try {
      Communicator ranks(table);
      outcomes.plans[table.rank] =
          plan_distributed(ranks, machine, own[table.rank].view(knows_ranks), strategy, 0, limits);
    } catch (const std::exception& exception) {
      outcomes.errors[table.rank] = exception.what();
    }
  });
  return outcomes;
}

/// The placement of all tasks that follows from the plans of all ranks. No rank may have failed.
inline Placement placement_of(const Problem& problem, const Outcomes& outcomes) {
  Placement after = problem.current;
  std::vector<std::size_t> next(outcomes.plans.size(), 0);
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    const PlaceId rank = problem.current.of(t);
    after.move(t, outcomes.plans[rank].rank_of_task.at(next[rank]++));
  }
  return after;
}

}  // namespace poise
