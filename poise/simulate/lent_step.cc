// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lent_step.h"

#include <algorithm>
#include <utility>

#include "poise/base/check.h"
#include "poise/online/lending_tuning.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

double mean_bytes(const Workload& workload) {
  double bytes = 0;
  for (const Task& task : workload.tasks) bytes += task.bytes;
  return bytes / std::max<double>(1, workload.num_tasks());
}

}  // namespace

LendingScenario lending_network(const Machine& machine) {
  const CostModel& costs = machine.costs();
  LendingScenario scenario;
  scenario.bytes_per_task = simulate_tuning::kHeaderBytesOfTask;
  scenario.near_latency_s = costs.inside.latency_s;
  scenario.far_latency_s = costs.network.latency_s;
  if (costs.card_bytes_per_s > 0) scenario.card_bytes_per_s = costs.card_bytes_per_s * costs.cards;
  scenario.message_overhead_s = costs.network.send_s;
  // The progress thread of a busy rank handles a message this long after the message has arrived.
  scenario.progress_s = lending_tuning::kNewsDelay_s;
  return scenario;
}

LendingScenario lending_scenario(const Machine& machine, const Workload& workload,
                                 const Placement& placement, const LendingOptions& options,
                                 LendingNetwork network) {
  LendingScenario scenario = lending_network(machine);
  scenario.num_ranks = machine.num_places();
  scenario.ranks_per_node = std::max(1u, machine.num_places() / machine.num_nodes());
  scenario.bytes_per_task += mean_bytes(workload);
  if (network == LendingNetwork::links) {
    scenario.machine = &machine;
    scenario.message_bytes = lending_tuning::kMessageBytes;
    scenario.gives_costs = false;
    scenario.waits = 2;
    scenario.meets = true;
  }
  scenario.settings.pull = scenario.settings.loans.push = options.lends;
  scenario.replicated_share = options.replicated_share;
  scenario.shares_tokens = options.shares_tokens;
  scenario.news_delay_s = options.news_delay_s;
  scenario.work.resize(machine.num_places());
  scenario.enter_s.resize(machine.num_places());
  for (const Place& place : machine.places()) scenario.slowness.push_back(1 / place.speed);
  std::copy(workload.background_s.begin(), workload.background_s.end(), scenario.enter_s.begin());
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    const Task& task = workload.tasks[t];
    const PlaceId at = placement.of(t);
    if (task.movable)
      scenario.work[at].push_back({1, task.load_s, 0});
    else
      scenario.enter_s[at] += task.load_s * scenario.slowness[at];
  }
  return scenario;
}

Loans& Loans::operator+=(const Loans& other) {
  tasks += other.tasks;
  copies_run += other.copies_run;
  ran_on_other_nodes += other.ran_on_other_nodes;
  bytes += other.bytes;
  saved_s += other.saved_s;
  return *this;
}

LentStep lent_step(const LendingScenario& scenario) {
  LendingOutcome outcome = simulate_lending(scenario);
  POISE_CHECK(outcome.trouble.empty());
  return {outcome.end_s,
          {outcome.lent, outcome.copies_run, outcome.ran_on_other_nodes, outcome.lent_bytes, 0},
          std::move(outcome.ranks)};
}

}  // namespace poise
