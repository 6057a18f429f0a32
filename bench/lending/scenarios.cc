// SPDX-License-Identifier: BSD-3-Clause

#include "bench/lending/scenarios.h"

#include <algorithm>
#include <cmath>

#include "poise/base/random.h"

namespace poise::bench {

namespace {

constexpr double kStep_s = 20e-3;

LendingScenario on(std::uint32_t num_ranks, std::uint32_t per_node, std::uint64_t seed) {
  LendingScenario scenario;
  scenario.num_ranks = num_ranks;
  scenario.ranks_per_node = per_node;
  scenario.seed = seed;
  scenario.meets = true;
  scenario.progress_s = lending_tuning::kNewsDelay_s;
  return scenario;
}

// A few ranks, some of them slow. All tasks are equally long. Either one rank has all tasks, or
// every rank has some.
LendingScenario equal_tasks(std::uint64_t seed, std::uint32_t waits) {
  Random random(seed);
  LendingScenario scenario = on(2 + random.below(8), 4, seed);
  scenario.waits = waits;
  const double task_s = std::pow(10, random.uniform(-5, -2.3));
  const auto tasks = static_cast<std::uint32_t>(std::ceil(kStep_s / task_s));
  const bool all_on_one = random.below(2);
  for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank) {
    scenario.work.push_back({{all_on_one && rank > 0 ? 0 : tasks, task_s, 0}});
    scenario.slowness.push_back(random.below(4) ? 1 : random.uniform(1, 8));
    scenario.enter_s.push_back(random.uniform(0, 100e-6));
  }
  if (random.below(2)) scenario.progress_s = std::numeric_limits<double>::infinity();
  return scenario;
}
LendingScenario first_step(std::uint64_t seed) { return equal_tasks(seed, 1); }
LendingScenario fourth_step(std::uint64_t seed) { return equal_tasks(seed, 4); }

// One of 2 to 4 ranks has 5000 tasks of 1 us.
LendingScenario tiny_tasks(std::uint64_t seed) {
  Random random(seed);
  LendingScenario scenario = on(2 + random.below(3), 4, seed);
  scenario.waits = 2;
  scenario.work = {{{5000, 1e-6, 0}}};
  scenario.enter_s = {random.uniform(0, 100e-6), random.uniform(0, 100e-6)};
  return scenario;
}

// Tasks of unequal length. The program does not say how long each takes. Ranks enter the step at
// different times; messages are delayed.
LendingScenario unequal_tasks(std::uint64_t seed) {
  Random random(seed);
  LendingScenario scenario = on(2 + random.below(30), 8, seed);
  for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank) {
    std::vector<SimulatedWork> work(random.below(4) ? 0 : 8 + random.below(60));
    for (SimulatedWork& task : work) task = {1, random.uniform(0.1e-3, 3e-3), 0};
    scenario.work.push_back(work);
    scenario.enter_s.push_back(random.below(4) ? 0 : random.uniform(0, 5e-3));
  }
  scenario.work[0].push_back({20, 1e-3, 0});
  scenario.gives_costs = false;
  scenario.max_delay_s = random.uniform(0, 50e-6);
  return scenario;
}

// A competing process runs on the core of one rank for 4 ms out of every 8 ms.
LendingScenario competitor(std::uint64_t seed) {
  Random random(seed);
  LendingScenario scenario = on(2, 2, seed);
  const double task_s = std::pow(10, random.uniform(-5, -3));
  scenario.work = {{{static_cast<std::uint32_t>(std::ceil(kStep_s / task_s)), task_s, 0}}};
  scenario.slice_s = {0, 4e-3};
  scenario.waits = 4;
  return scenario;
}

// Rank 0 has all tasks: 2 to 10 tasks of unequal length.
// Rank 1 takes three times as long for a task as rank 0.
LendingScenario few_tasks(std::uint64_t seed) {
  Random random(seed);
  LendingScenario scenario = on(2, 2, seed);
  std::vector<SimulatedWork> work(2 + random.below(9));
  for (SimulatedWork& task : work) task = {1, random.uniform(0.1e-3, 3e-3), 0};
  scenario.work = {work};
  scenario.slowness = {1, 3};
  scenario.gives_costs = false;
  scenario.waits = 4;
  return scenario;
}

LendingScenario all_on_one(std::uint64_t seed) {
  LendingScenario scenario = on(128, 16, seed);
  scenario.work = {{{128 * 10, 2e-3, 0}}};
  scenario.max_delay_s = 2e-6;
  return scenario;
}

LendingScenario random_counts(std::uint64_t seed) {
  Random random(seed);
  LendingScenario scenario = on(128, 16, seed);
  for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank)
    scenario.work.push_back({{static_cast<std::uint32_t>(random.below(20)), 2e-3, 0}});
  scenario.max_delay_s = 2e-6;
  return scenario;
}

// The ranks of one node run tasks half as fast as others, and every task submits child tasks.
LendingScenario slow_node(std::uint64_t seed) {
  LendingScenario scenario = on(64, 16, seed);
  scenario.work.assign(64, {{5, 1e-3, 2}});
  scenario.slowness.assign(16, 2);
  scenario.max_delay_s = 2e-6;
  return scenario;
}

}  // namespace

const ScenarioKind kScenarioKinds[] = {
    {"first step", first_step},        {"fourth step", fourth_step},
    {"tiny tasks", tiny_tasks},        {"unequal tasks", unequal_tasks},
    {"competitor", competitor},        {"few tasks beside a slow rank", few_tasks},
    {"all on one of 128", all_on_one}, {"random on 128", random_counts},
    {"slow node, children", slow_node}};

}  // namespace poise::bench
