// SPDX-License-Identifier: BSD-3-Clause
// Simulates lending on 2 to 100,000 ranks in virtual time, with the decisions of the tasks runtime
// (poise/simulate/lending_simulation.h). Also simulates random and hierarchical work stealing
// (scale/stealing.h). Compares each makespan with the ideal makespan. The benchmark's own times
// are those of the simulation; the counters of a row (`makespan_s` and so on) describe the
// simulated job.
#include <benchmark/benchmark.h>
#include <cmath>
#include <string>
#include <utility>

#include "bench/scale/stealing.h"

#include "poise/simulate/lending_bound.h"
#include "poise/simulate/lending_simulation.h"

namespace poise {
namespace {

constexpr std::uint32_t kTasksPerRank = 20, kRanksPerNode = 64;
constexpr double kTask_s = 10e-3;

LendingScenario on(std::uint32_t num_ranks) {
  LendingScenario scenario;
  scenario.num_ranks = num_ranks;
  scenario.ranks_per_node = kRanksPerNode;
  scenario.progress_s = lending_tuning::kNewsDelay_s;
  return scenario;
}

LendingScenario all_on_one(std::uint32_t num_ranks) {
  LendingScenario scenario = on(num_ranks);
  scenario.work = {{{kTasksPerRank * num_ranks, kTask_s, 0}}};
  return scenario;
}

LendingScenario random_counts(std::uint32_t num_ranks) {
  LendingScenario scenario = on(num_ranks);
  Random random(1);
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
    scenario.work.push_back(
        {{static_cast<std::uint32_t>(random.below(2 * kTasksPerRank + 1)), kTask_s, 0}});
  return scenario;
}

LendingScenario one_node_slow(std::uint32_t num_ranks) {
  LendingScenario scenario = on(num_ranks);
  scenario.work.assign(num_ranks, {{kTasksPerRank, kTask_s, 0}});
  scenario.slowness.assign(std::min(num_ranks > 2 ? kRanksPerNode : 1, num_ranks / 2), 2);
  return scenario;
}

// Returns the time of a message from the root of the termination tree to the farthest rank and
// back.
double depth_s(const LendingScenario& scenario) {
  const double nodes = std::ceil(1.0 * scenario.num_ranks / kRanksPerNode);
  return 2 * (2 + std::ceil(std::log(nodes) / std::log(16))) * scenario.far_latency_s;
}

using Make = LendingScenario (*)(std::uint32_t);
using Simulate = LendingOutcome (*)(const LendingScenario&);

void simulate(benchmark::State& state, Make make, Simulate run) {
  const LendingScenario scenario = make(static_cast<std::uint32_t>(state.range(0)));
  LendingOutcome outcome;
  for (auto _ : state) outcome = run(scenario);
  if (!outcome.trouble.empty()) state.SkipWithError(outcome.trouble.c_str());
  const double ideal_s = ideal_makespan_s(scenario) + depth_s(scenario);
  state.counters["ideal_s"] = ideal_s;
  state.counters["makespan_s"] = outcome.makespan_s;
  state.counters["over_ideal"] = outcome.makespan_s / ideal_s;
  state.counters["messages_per_rank"] = 1.0 * outcome.messages / scenario.num_ranks;
  state.counters["max_messages_of_a_rank"] = outcome.max_messages_from_one;
  state.counters["requests_per_rank"] = 1.0 * outcome.requests / scenario.num_ranks;
  if (run != simulate_lending) return;  // stealing uses no loads and has no termination detection
  state.counters["end_after_last_task_s"] = outcome.end_s - outcome.makespan_s;
  state.counters["load_age_s"] = outcome.mean_load_age_s;
  state.counters["max_peer_bytes"] = outcome.max_peer_bytes;
}

LendingOutcome random_stealing(const LendingScenario& scenario) {
  return bench::simulate_stealing(scenario, bench::Victims::random);
}

LendingOutcome hierarchical_stealing(const LendingScenario& scenario) {
  return bench::simulate_stealing(scenario, bench::Victims::hierarchical);
}

void add(const std::string& name, Make make) {
  const std::pair<const char*, Simulate> ways[] = {
      {"lending", simulate_lending},
      {"random_stealing", random_stealing},
      {"hierarchical_stealing", hierarchical_stealing}};
  for (const auto& [way, run] : ways)
    benchmark::RegisterBenchmark(
        (name + "/" + way).c_str(),
        [make, run = run](benchmark::State& state) { simulate(state, make, run); })
        ->Arg(2)
        ->Arg(16)
        ->Arg(128)
        ->Arg(1024)
        ->Arg(10'000)
        ->Arg(100'000)
        ->Iterations(1)
        ->Unit(benchmark::kSecond);
}

}  // namespace
}  // namespace poise

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  poise::add("all_on_one", poise::all_on_one);
  poise::add("random", poise::random_counts);
  poise::add("one_node_slow", poise::one_node_slow);
  benchmark::RunSpecifiedBenchmarks();
}
