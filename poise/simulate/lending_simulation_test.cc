// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_simulation.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/machine/text.h"
#include "poise/simulate/lending_bound.h"

namespace poise {
namespace {

// Draws a scenario in which the number of ranks and the speed, work and entry time of each rank are
// random. Messages may be delayed, or stalled and then arrive in bursts.
LendingScenario random_scenario(std::uint64_t seed) {
  Random random(seed);
  LendingScenario scenario;
  scenario.seed = seed;
  scenario.num_ranks = static_cast<std::uint32_t>(1 + random.below(random.below(4) ? 12 : 80));
  scenario.ranks_per_node = static_cast<std::uint32_t>(1 + random.below(8));
  scenario.waits = static_cast<std::uint32_t>(1 + random.below(3));
  const bool all_on_few = random.below(2);
  for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank) {
    const bool has_none = all_on_few ? random.below(5) > 0 : random.below(5) == 0;
    SimulatedWork work;
    work.tasks = has_none ? 0 : static_cast<std::uint32_t>(random.below(60));
    work.task_s = std::pow(10, random.uniform(-6, -2));
    work.children = static_cast<std::uint32_t>(random.below(4) ? 0 : random.below(4));
    scenario.work.push_back({work});
    scenario.slowness.push_back(random.below(4) ? 1 : random.uniform(0.5, 8));
    scenario.enter_s.push_back(random.below(4) ? 0 : random.uniform(0, 0.02));
  }
  Random competitors(mix(seed));
  for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank)
    scenario.slice_s.push_back(competitors.below(8) ? 0 : competitors.uniform(1e-3, 10e-3));
  if (random.below(2)) scenario.max_delay_s = random.uniform(0, 1e-3);
  if (random.below(3) == 0) scenario.stall_share = random.uniform(0, 0.3);
  scenario.stall_s = random.uniform(0, 5e-3);
  scenario.max_peers = random.below(3) ? lending_tuning::kMaxPeers : 1 + random.below(4);
  scenario.settings.pull = random.below(8) > 0;
  scenario.settings.loans.push = random.below(4) > 0;
  scenario.settings.loans.batch_bytes = random.below(2) ? 4 << 20 : 1000;
  if (random.below(2)) scenario.progress_s = random.uniform(0, 1e-3);
  if (random.below(3) == 0) scenario.replicated_share = random.uniform();
  scenario.shares_tokens = random.below(2);
  if (random.below(3) == 0) scenario.news_delay_s = random.uniform(0, 5e-3);
  scenario.max_events = 5'000'000;
  scenario.recount_every = 50;
  return scenario;
}

// Runs a scenario. Every task must run exactly once, and every rank must leave every wait, but not
// before all tasks have finished. The simulation ends when the last rank leaves.
LendingOutcome checked(const LendingScenario& scenario) {
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "") << "seed " << scenario.seed;
  std::uint64_t tasks = 0;
  for (const auto& works : scenario.work)
    for (const SimulatedWork& work : works) tasks += work.tasks * (1ull + work.children);
  EXPECT_EQ(outcome.tasks, tasks * scenario.waits) << "seed " << scenario.seed;
  double left_s = 0;
  for (const SimulatedRank& rank : outcome.ranks) left_s = std::max(left_s, rank.left_s);
  EXPECT_EQ(outcome.end_s, left_s) << "seed " << scenario.seed;
  return outcome;
}

// CTest runs 10,000 seeds of this test and of the test after it, under the label "long".
TEST(LendingSimulation, every_task_runs_once_and_every_rank_then_stops_waiting) {
  for (std::uint64_t seed = 0; seed < num_seeds(300) && !HasFailure(); ++seed)
    checked(random_scenario(seed));
}

// All scenarios have copies of tasks. In half of the scenarios, a task can run on another rank only
// as a copy.
TEST(LendingSimulation, every_replicated_task_runs_once_on_its_owner_or_on_the_rank_with_the_copy) {
  std::uint64_t copies_run = 0;
  for (std::uint64_t seed = 0; seed < num_seeds(300) && !HasFailure(); ++seed) {
    LendingScenario scenario = random_scenario(seed);
    scenario.num_ranks = std::max(2u, scenario.num_ranks);
    scenario.replicated_share = Random(seed).uniform(0.2, 1);
    const bool lends = seed % 2 == 0;
    if (!lends) scenario.settings.pull = scenario.settings.loans.push = false;
    const LendingOutcome outcome = checked(scenario);
    EXPECT_LE(outcome.copies_run, outcome.copies) << "seed " << seed;
    EXPECT_TRUE(lends || outcome.lent == 0) << "seed " << seed;
    copies_run += outcome.copies_run;
  }
  EXPECT_GT(copies_run, num_seeds(300));
}

LendingScenario all_on_one(std::uint32_t num_ranks, std::uint32_t tasks, double task_s) {
  LendingScenario scenario;
  scenario.num_ranks = num_ranks;
  scenario.ranks_per_node = 16;
  scenario.work = {{{tasks, task_s, 0}}};
  return scenario;
}

double efficiency(const LendingScenario& scenario) {
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  return ideal_makespan_s(scenario) / outcome.makespan_s;
}

// Four ranks, each with 100 tasks of 10 ms. The first rank needs three times as long for a task as
// the others, which no rank knows when the wait begins.
LendingScenario one_slow(double news_delay_s) {
  LendingScenario scenario;
  scenario.num_ranks = 4;
  scenario.work.assign(4, {{100, 10e-3, 0}});
  scenario.slowness = {3};
  scenario.news_delay_s = news_delay_s;
  scenario.progress_s = 0.3e-3;
  return scenario;
}

TEST(LendingSimulation, a_step_takes_longer_if_ranks_learn_late_that_one_of_them_is_slow) {
  EXPECT_LT(simulate_lending(one_slow(0)).makespan_s,
            simulate_lending(one_slow(0.2)).makespan_s - 0.09);
}

TEST(LendingSimulation, copies_of_tasks_start_sooner_if_ranks_claim_them_in_shared_memory) {
  LendingScenario scenario = one_slow(0.2);
  scenario.settings.pull = scenario.settings.loans.push = false;
  EXPECT_NEAR(simulate_lending(scenario).makespan_s, 3.0, 1e-2);
  scenario.replicated_share = 0.9;
  const LendingOutcome asked = simulate_lending(scenario);
  EXPECT_EQ(asked.copies, 360);
  EXPECT_EQ(asked.lent, 0);
  EXPECT_GT(asked.copies_run, 0);
  scenario.shares_tokens = true;
  const LendingOutcome shared = simulate_lending(scenario);
  EXPECT_GT(efficiency(scenario), 0.95);
  EXPECT_LT(shared.makespan_s, asked.makespan_s);
}

TEST(LendingSimulation, spreads_the_tasks_of_one_rank_over_all_ranks) {
  EXPECT_GT(efficiency(all_on_one(2, 1000, 1e-3)), 0.98);
  EXPECT_GT(efficiency(all_on_one(16, 1600, 1e-3)), 0.9);
  EXPECT_GT(efficiency(all_on_one(64, 6400, 1e-3)), 0.8);
}

// The owner needs half of the ideal time (ideal_makespan_s()) to pack the tasks, and the other half
// to unpack their results. If each result came in a message of its own, receiving these messages
// would take longer than the whole ideal time.
TEST(LendingSimulation, an_owner_with_tasks_on_very_many_ranks_gets_results_in_few_messages) {
  POISE_SKIP_IF_SLOW();
  LendingScenario scenario = all_on_one(256, 256 * 20, 10e-3);
  scenario.ranks_per_node = 4;
  scenario.task_overhead_s = 80e-6;
  scenario.message_overhead_s = 200e-6;
  scenario.progress_s = lending_tuning::kNewsDelay_s;
  const LendingOutcome outcome = checked(scenario);
  EXPECT_LT(outcome.makespan_s, 1.6 * ideal_makespan_s(scenario));
}

// As above, but the owner knows from an earlier wait how much time it spends on each lent task. So
// it wants one rank of each node to collect the results of that node. If each of the 511 other
// ranks sent its results to the owner, the wait would take 1.35 times the ideal time.
TEST(LendingSimulation, an_owner_with_tasks_on_very_many_ranks_gets_few_messages_from_each_node) {
  POISE_SKIP_IF_SLOW();
  LendingScenario scenario = all_on_one(512, 512 * 20, 10e-3);
  scenario.task_overhead_s = 40e-6;
  scenario.message_overhead_s = 100e-6;
  scenario.progress_s = lending_tuning::kNewsDelay_s;
  scenario.waits = 2;
  scenario.meets = true;
  const LendingOutcome outcome = checked(scenario);
  EXPECT_LT(outcome.makespan_s, 1.25 * ideal_makespan_s(scenario));
}

// The nodes have 16, 16 and 4 ranks. The owner is the last rank of the first node, so its results
// are collected by the last rank of each node.
TEST(LendingSimulation,
     if_the_last_node_has_fewer_ranks_than_the_others_one_of_its_ranks_collects_its_results) {
  LendingScenario scenario;
  scenario.num_ranks = 36;
  scenario.ranks_per_node = 16;
  scenario.work.assign(16, {});
  scenario.work[15] = {{36 * 40, 1e-3, 0}};
  scenario.task_overhead_s = 80e-6;
  scenario.waits = 2;
  scenario.meets = true;
  checked(scenario);
}

// Two slow ranks lend nearly all of their tasks to the third rank. While the first slow rank
// unpacks its last results, the second one receives the results of its tasks. The wait ends a few
// messages after the last results.
TEST(LendingSimulation, the_makespan_lasts_until_every_owner_has_unpacked_its_results) {
  LendingScenario scenario = all_on_one(3, 320, 1e-3);
  scenario.work.push_back({{320, 1e-3, 0}});
  scenario.slowness = {100, 150};
  scenario.ranks_per_node = 1;
  scenario.task_overhead_s = 3e-3;
  const LendingOutcome outcome = checked(scenario);
  EXPECT_NEAR(outcome.makespan_s, outcome.end_s, 1e-3);
}

// In `family`, `fast` and `near`, rank 0 has all the work. In `family` rank 0 lends a task that
// submits half of all tasks; in `fast` rank 0 is faster than the other ranks; in `near` no task
// leaves the node of rank 0.
TEST(LendingSimulation, no_makespan_is_shorter_than_the_ideal_makespan) {
  LendingScenario family = all_on_one(2, 2, 1e-3);
  family.work = {{{2, 1e-3, 1000}}};
  LendingScenario fast = all_on_one(4, 400, 1e-3);
  fast.slowness = {0.1};
  LendingScenario near = all_on_one(8, 100, 1e-3);
  near.bytes_per_task = 1e8;
  for (LendingScenario scenario : {family, fast, near}) {
    scenario.task_overhead_s = 0.5e-3;
    scenario.progress_s = 0.1e-3;
    EXPECT_LE(efficiency(scenario), 1) << scenario.num_ranks << " ranks";
  }
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    LendingScenario scenario = random_scenario(seed);
    scenario.waits = 1;
    scenario.task_overhead_s = Random(seed).uniform(0, 1e-3);
    const double makespan_s = simulate_lending(scenario).makespan_s;
    EXPECT_LE(ideal_makespan_s(scenario), makespan_s * (1 + 1e-9)) << "seed " << seed;
  }
}

// If a rank searched its queue for every copy that another rank claims, this test would run for
// minutes.
TEST(LendingSimulation, the_time_to_claim_replicas_grows_less_than_quadratically) {
  POISE_SKIP_IF_SLOW();
  LendingScenario scenario = all_on_one(3, 400'000, 1e-3);
  scenario.settings.pull = scenario.settings.loans.push = false;
  scenario.replicated_share = 1;
  scenario.shares_tokens = true;
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_GT(outcome.copies_run, 200'000);
}

// A progress thread handles messages one after the other, even if they arrive faster than it can
// handle them.
TEST(LendingSimulation, a_progress_thread_packs_or_unpacks_one_task_at_a_time) {
  LendingScenario scenario = all_on_one(200, 4000, 10e-3);
  scenario.progress_s = 0.2e-3;
  scenario.task_overhead_s = 0.1e-3;
  // 200 ranks run 40 s of work in 0.2 s. But one rank packs and unpacks nearly all 4000 tasks, in
  // 0.2 ms each, which takes about 0.8 s.
  EXPECT_GT(ideal_makespan_s(scenario), 0.75);
  EXPECT_LE(efficiency(scenario), 1);
}

// Checks for starvation: a rank that stays idle although others have tasks to lend. Without a
// progress thread, a rank reads a steal request only when its task ends, so the last task may end
// later, by up to the run time of one task.
TEST(LendingSimulation, leaves_no_rank_idle_for_a_long_time) {
  constexpr double kTask_s = 1e-3;
  for (std::uint64_t seed = 0; seed < num_seeds(40); ++seed) {
    Random random(seed);
    LendingScenario scenario;
    scenario.seed = seed;
    scenario.num_ranks = static_cast<std::uint32_t>(2 + random.below(40));
    for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank)
      scenario.work.push_back({{static_cast<std::uint32_t>(random.below(200)), kTask_s, 0}});
    scenario.max_delay_s = 10e-6;
    const LendingOutcome outcome = simulate_lending(scenario);
    EXPECT_EQ(outcome.trouble, "") << "seed " << seed;
    EXPECT_LT(outcome.makespan_s - kTask_s, ideal_makespan_s(scenario) / 0.9) << "seed " << seed;
  }
}

TEST(LendingSimulation, lending_does_not_delay_a_single_long_task) {
  LendingScenario scenario;
  scenario.work = {{{1, 1.0, 0}}};
  scenario.num_ranks = 2;
  EXPECT_NEAR(simulate_lending(scenario).makespan_s, 1, 1e-3);
}

// No rank knows that the first task is long. Without a progress thread, the rank that runs this
// task answers no request until the task ends.
TEST(LendingSimulation,
     if_task_times_are_unknown_queued_tasks_are_lent_before_a_long_first_task_starts) {
  for (const bool gives_costs : {true, false}) {
    LendingScenario scenario;
    scenario.work = {{{1, 1.0, 0}, {500, 2e-3, 0}}};
    scenario.num_ranks = 2;
    scenario.enter_s = {50e-6};  // the other rank has sent a request by then
    scenario.gives_costs = gives_costs;
    const LendingOutcome outcome = simulate_lending(scenario);
    EXPECT_EQ(outcome.trouble, "");
    EXPECT_LT(outcome.makespan_s, 1.06) << gives_costs;
  }
}

// Rank 0 has started one of its two tasks when rank 1 asks for tasks.
TEST(LendingSimulation, the_second_of_two_tasks_of_unknown_time_is_lent_while_the_first_runs) {
  LendingScenario scenario;
  scenario.work = {{{2, 1.0, 0}}};
  scenario.enter_s = {0, 0.2};
  scenario.progress_s = lending_tuning::kNewsDelay_s;
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_LT(outcome.makespan_s, 1.21);
}

// Rank 1 asks first and borrows four tasks of unknown time. It is slow, so it returns three of them
// after it has run one. By then rank 0 must know how slow rank 1 is, and keep these three tasks.
TEST(LendingSimulation, tasks_that_a_slow_rank_has_returned_are_not_lent_to_that_rank_again) {
  LendingScenario scenario;
  scenario.work = {{{5, 3e-3, 0}}};
  scenario.slowness = {1, 8};
  scenario.enter_s = {50e-6};
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_EQ(outcome.lent, 4 + 3);
  EXPECT_LT(outcome.makespan_s, (8 + 3) * 3e-3 + 0.2e-3);
}

// Rank 3 is first to request tasks. It gets six of rank 0's seven tasks and runs one of them for
// 25 ms before it returns the other five. If rank 0 then lent one of the five to rank 1, whose
// speed no rank knows, rank 0 would have to wait for another 20 ms.
TEST(LendingSimulation,
     after_waiting_for_a_slow_borrower_a_rank_lends_nothing_to_ranks_of_unknown_speed) {
  LendingScenario scenario;
  scenario.num_ranks = 4;
  scenario.work = {{{7, 3.2e-3, 0}}};
  scenario.slowness = {1, 6.4, 1, 7.9};
  scenario.enter_s = {51e-6, 49e-6, 71e-6, 41e-6};
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_LT(outcome.makespan_s, (7.9 + 1 + 5) * 3.2e-3 + 0.2e-3);
}

// Draws a random step of about 20 ms. All tasks take equally long and start on one rank or on all
// ranks, and some ranks are slow.
LendingScenario random_step(std::uint64_t seed, std::uint32_t waits) {
  Random random(seed);
  LendingScenario scenario;
  scenario.seed = seed;
  scenario.num_ranks = static_cast<std::uint32_t>(2 + random.below(8));
  scenario.meets = true;
  scenario.waits = waits;
  const double task_s = std::pow(10, random.uniform(-6, -2.3));
  const auto tasks = static_cast<std::uint32_t>(std::ceil(20e-3 / task_s));
  const bool all_on_one = random.below(2);
  for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank) {
    scenario.work.push_back({{all_on_one && rank > 0 ? 0 : tasks, task_s, 0}});
    scenario.slowness.push_back(random.below(4) ? 1 : random.uniform(1, 8));
    scenario.enter_s.push_back(random.uniform(0, 100e-6));
  }
  if (random.below(2)) scenario.progress_s = 100e-6;
  return scenario;
}

// Compares steps with the same steps without lending. In a first step, ranks do not know yet how
// long tasks take and how fast other ranks are.
TEST(LendingSimulation, lending_never_doubles_the_time_of_a_step_and_rarely_lengthens_it) {
  for (const std::uint32_t waits : {1, 4}) {
    std::vector<double> longer;
    for (std::uint64_t seed = 0; seed < num_seeds(200); ++seed) {
      LendingScenario scenario = random_step(seed, waits);
      const double lending_s = simulate_lending(scenario).makespan_s;
      scenario.settings.pull = false;
      scenario.settings.loans.policy = &offload_policy("none");
      longer.push_back(lending_s / simulate_lending(scenario).makespan_s);
      EXPECT_LE(longer.back(), 2) << "seed " << seed << ", step " << waits;
    }
    std::ranges::sort(longer);
    EXPECT_LE(longer[longer.size() / 2], 1 / 0.98) << "median, step " << waits;
    EXPECT_LE(longer[longer.size() * 98 / 100], 1.02) << "98th percentile, step " << waits;
  }
}

// Simulates `waits` steps with and without lending. Returns the time of the last step without
// lending, divided by its time with lending.
double speed_of_lending(LendingScenario scenario, std::uint32_t waits, std::uint64_t seed) {
  scenario.ranks_per_node = 2;
  scenario.meets = true;
  scenario.waits = waits;
  scenario.seed = seed;
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  scenario.settings.pull = false;
  scenario.settings.loans.policy = &offload_policy("none");
  return simulate_lending(scenario).makespan_s / outcome.makespan_s;
}

// Rank 0 has 20 ms of tasks. A competitor takes the core of rank 1 for 4 ms of every 8 ms.
double speed_beside_a_competitor(double task_s, std::uint32_t waits, std::uint64_t seed) {
  LendingScenario scenario;
  scenario.work = {{{static_cast<std::uint32_t>(std::ceil(20e-3 / task_s)), task_s, 0}}};
  scenario.slice_s = {0, 4e-3};
  return speed_of_lending(scenario, waits, seed);
}

// A lent task may wait for a fifth of the step, while the competitor has the core of rank 1. So a
// single run may be slower with lending than without.
TEST(LendingSimulation, lending_helps_if_another_program_shares_a_core_unless_tasks_are_tiny) {
  for (const double task_s : {1e-6, 10e-6, 100e-6, 1e-3})
    for (const std::uint32_t waits : {1, 4}) {
      std::vector<double> speeds;
      for (std::uint64_t seed = 0; seed < num_seeds(20); ++seed)
        speeds.push_back(speed_beside_a_competitor(task_s, waits, seed));
      std::ranges::sort(speeds);
      EXPECT_GT(speeds.front(), 0.8) << "tasks of " << task_s << " s, step " << waits;
      EXPECT_GT(speeds[speeds.size() / 2], task_s > 1e-6 ? 1.1 : 0.85)
          << "median, tasks of " << task_s << " s, step " << waits;
    }
}

// Rank 0 has 2 to 10 unequal tasks, and rank 1 needs three times as long for a task.
double speed_beside_a_slow_rank(std::uint32_t waits, std::uint64_t seed) {
  Random random(seed);
  LendingScenario scenario;
  std::vector<SimulatedWork> work(2 + random.below(9));
  for (SimulatedWork& task : work) task = {1, random.uniform(0.1e-3, 3e-3), 0};
  scenario.work = {work};
  scenario.slowness = {1, 3};
  scenario.gives_costs = false;
  scenario.progress_s = 0.1e-3;
  return speed_of_lending(scenario, waits, seed);
}

// In the first steps too many tasks go to the slow rank, because rank 0 learns only gradually how
// slow rank 1 is.
TEST(LendingSimulation, steps_with_few_tasks_gain_from_lending_once_the_slow_rank_is_known) {
  std::vector<double> early, late;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {  // enough for the percentiles below
    early.push_back(speed_beside_a_slow_rank(4, seed));
    late.push_back(speed_beside_a_slow_rank(64, seed));
  }
  std::ranges::sort(early);
  std::ranges::sort(late);
  EXPECT_GT(early.front(), 0.3);
  EXPECT_GT(late[late.size() / 10], 0.95);
  EXPECT_GT(late[late.size() / 2], 1.1);
}

// Every rank runs a first task, whose time is unknown. So no rank knows when it will be idle, and
// none requests tasks that would only wait in its queue.
TEST(LendingSimulation, tasks_of_unknown_time_do_not_move_to_and_fro_between_busy_ranks) {
  LendingScenario scenario = all_on_one(8, 64, 10.0);
  scenario.progress_s = lending_tuning::kNewsDelay_s;
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_LE(outcome.lent, 3u * 64);
}

// While both ranks run a long task, each has another task to lend and tells the other its load from
// time to time. A message with a load must not wake the receiver's progress thread, which would
// answer with the load of its own rank.
TEST(LendingSimulation, busy_ranks_do_not_keep_telling_each_other_their_loads) {
  LendingScenario scenario;
  scenario.num_ranks = 2;
  scenario.work.assign(2, {{3, 10.0, 0}});
  scenario.progress_s = lending_tuning::kNewsDelay_s;
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_LE(outcome.messages, 3 * 2 * 10.0 / lending_tuning::kMaxSleep_s);
}

// However long the wait is, an idle rank sends only a few requests to random ranks, and one to each
// of its partners (PeerTable::partners()).
TEST(LendingSimulation, idle_ranks_stop_sending_requests_after_a_few_tries) {
  LendingScenario scenario;
  scenario.num_ranks = 64;
  scenario.work = {{{1, 10.0, 0}}};  // nothing to lend
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_LE(outcome.requests, 64 * (lending_tuning::kRandomTries + 6 + 2));
}

TEST(LendingSimulation,
     detects_the_end_of_all_tasks_within_three_round_trips_through_the_tree_of_ranks) {
  LendingScenario scenario;
  scenario.num_ranks = 1024;
  scenario.ranks_per_node = 16;
  scenario.work.assign(1024, {{1, 1e-3, 0}});
  scenario.message_overhead_s = 0;
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  const double depth = 1 + 2;  // tree levels: 1 joins the 16 ranks of a node, 2 join the 64 nodes
  EXPECT_LE(outcome.end_s - outcome.makespan_s, 3 * 2 * depth * scenario.far_latency_s + 1e-4);
}

// Two ranks, each on a node of its own, lend nothing. Rank 0 is slow, and each of its three tasks
// submits two further tasks. All times are multiples of a power of two.
LendingScenario two_apart() {
  LendingScenario scenario;
  scenario.num_ranks = 2;
  scenario.work = {{{3, 0.25, 2}}, {{2, 1, 0}, {4, 0.5, 0}}};
  scenario.slowness = {2};
  scenario.enter_s = {0.5, 0.125};
  scenario.settings.pull = scenario.settings.loans.push = false;
  scenario.task_overhead_s = scenario.message_overhead_s = scenario.decision_s = 0;
  scenario.far_latency_s = 1.0 / 64;
  scenario.near_latency_s = 1.0 / 16;
  scenario.card_bytes_per_s = 256 * 1024;
  return scenario;
}

// The time that a message without tasks takes between nodes.
constexpr double kPassing_s = 1.0 / 64 + 1.0 / 1024;

TEST(LendingSimulation,
     ranks_that_lend_nothing_leave_a_wait_two_message_rounds_after_all_tasks_have_ended) {
  LendingScenario scenario = two_apart();
  scenario.has_spans = true;
  const LendingOutcome outcome = checked(scenario);
  EXPECT_EQ(outcome.makespan_s, 0.5 + 9 * 0.25 * 2);
  EXPECT_EQ(outcome.tasks, 15u);
  EXPECT_EQ(outcome.lent, 0u);
  EXPECT_EQ(outcome.requests, 0u);
  // Rank 0, the root, asks for a second report; rank 1 sends it; then rank 0 announces that all
  // tasks have finished.
  EXPECT_DOUBLE_EQ(outcome.ranks[0].left_s, 5 + 2 * kPassing_s);
  EXPECT_DOUBLE_EQ(outcome.ranks[1].left_s, 5 + 3 * kPassing_s);
  EXPECT_DOUBLE_EQ(outcome.end_s, 5 + 3 * kPassing_s);
  EXPECT_EQ(outcome.ranks[0].busy_s, 5);
  EXPECT_EQ(outcome.ranks[1].busy_s, 4.125);
  EXPECT_EQ(outcome.messages, 6u) << "two have entered, two reports, and two from the root";
  EXPECT_EQ(outcome.max_messages_from_one, 3u);
  EXPECT_EQ(outcome.max_bytes_out, 3 * 256);
  EXPECT_EQ(outcome.max_lent_by_one, 0u);
  const double ends_s[] = {5, 4.125};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(outcome.ranks[rank].spans.size(), 1u);
    EXPECT_EQ(outcome.ranks[rank].spans[0].start_s, 0);
    EXPECT_EQ(outcome.ranks[rank].spans[0].end_s, ends_s[rank]);
    EXPECT_EQ(outcome.ranks[rank].spans[0].activity, Activity::work);
    EXPECT_FALSE(outcome.ranks[rank].spans[0].is_borrowed);
  }
}

TEST(LendingSimulation, every_message_takes_time_of_its_sender_and_of_its_receiver) {
  LendingScenario scenario = two_apart();
  const double message_s = scenario.message_overhead_s = 1.0 / 4096;
  const LendingOutcome outcome = checked(scenario);
  // Before its last task ends, rank 0 sends one message (that rank 0 has entered the wait) and
  // receives one (the report of rank 1).
  EXPECT_DOUBLE_EQ(outcome.makespan_s, 5 + 2 * message_s);
  EXPECT_DOUBLE_EQ(outcome.ranks[0].left_s, 5 + 7 * message_s + 2 * kPassing_s);
  EXPECT_DOUBLE_EQ(outcome.ranks[1].left_s, 5 + 8 * message_s + 3 * kPassing_s);
  EXPECT_DOUBLE_EQ(outcome.ranks[0].busy_s, 5 + 5 * message_s);
  EXPECT_DOUBLE_EQ(outcome.ranks[1].busy_s, 4.125 + 6 * message_s);
}

TEST(LendingSimulation, a_stalled_message_arrives_later_by_the_duration_of_the_stall) {
  LendingScenario scenario = two_apart();
  scenario.stall_share = 1;
  scenario.stall_s = 1.0 / 32;
  EXPECT_DOUBLE_EQ(checked(scenario).end_s, 5 + 3 * (kPassing_s + 1.0 / 32));
  scenario.stall_share = 0;
  scenario.max_delay_s = 1.0 / 32;
  const double end_s = checked(scenario).end_s;
  EXPECT_GT(end_s, 5 + 3 * kPassing_s);
  EXPECT_LT(end_s, 5 + 3 * (kPassing_s + 1.0 / 32));
}

TEST(LendingSimulation,
     messages_inside_a_node_have_a_separate_latency_and_do_not_use_the_network_card) {
  LendingScenario scenario = two_apart();
  scenario.ranks_per_node = 2;
  const LendingOutcome outcome = checked(scenario);
  EXPECT_DOUBLE_EQ(outcome.end_s, 5 + 3.0 / 16);
  EXPECT_EQ(outcome.max_bytes_out, 0);
}

TEST(LendingSimulation, barriers_between_waits_restrict_the_reported_times_to_the_last_wait) {
  LendingScenario scenario = two_apart();
  scenario.waits = 3;
  scenario.meets = true;
  const LendingOutcome last = checked(scenario);
  EXPECT_DOUBLE_EQ(last.makespan_s, 5);
  EXPECT_DOUBLE_EQ(last.end_s, 5 + 3 * kPassing_s);
  EXPECT_DOUBLE_EQ(last.ranks[0].busy_s, 5);
  EXPECT_EQ(last.tasks, 45u);  // of all waits
  EXPECT_EQ(last.messages, 18u);
  scenario.meets = false;
  const LendingOutcome all = checked(scenario);
  // Rank 0 enters the second wait as soon as it has left the first one: after 5 s and the time of
  // two messages.
  EXPECT_DOUBLE_EQ(all.makespan_s, 5 + 2 * (4.5 + 2 * kPassing_s));
  EXPECT_DOUBLE_EQ(all.ranks[0].busy_s, 0.5 + 3 * 4.5);
  EXPECT_DOUBLE_EQ(all.ranks[1].busy_s, 0.125 + 3 * 4);
  EXPECT_DOUBLE_EQ(all.end_s, all.makespan_s + 3 * kPassing_s);
}

TEST(LendingSimulation, a_single_rank_runs_its_tasks_without_any_message) {
  LendingScenario scenario = two_apart();
  scenario.num_ranks = 1;
  const LendingOutcome outcome = simulate_lending(scenario);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_EQ(outcome.makespan_s, 5);
  EXPECT_EQ(outcome.end_s, 5);
  EXPECT_EQ(outcome.messages, 0u);
  EXPECT_EQ(outcome.tasks, 9u);
}

TEST(LendingSimulation, gives_up_after_the_maximum_number_of_events) {
  LendingScenario scenario = two_apart();
  const std::uint64_t events = checked(scenario).events;
  scenario.max_events = events;
  EXPECT_EQ(simulate_lending(scenario).trouble, "");
  scenario.max_events = events - 1;
  EXPECT_EQ(simulate_lending(scenario).trouble,
            "no end after " + std::to_string(events - 1) + " events");
}

TEST(LendingSimulation, the_loads_that_a_thief_knows_are_outdated_by_at_least_the_message_latency) {
  EXPECT_EQ(checked(two_apart()).mean_load_age_s, 0) << "no rank sends requests";
  LendingScenario scenario = all_on_one(2, 1000, 1e-3);
  scenario.near_latency_s = 2e-3;
  const LendingOutcome outcome = checked(scenario);
  EXPECT_GT(outcome.requests, 1u);
  EXPECT_GE(outcome.mean_load_age_s, 2e-3);
  EXPECT_LE(outcome.mean_load_age_s, outcome.makespan_s);
}

// Rank 0 has two tasks and sends a copy of the second one to rank 1, which is twice as slow.
LendingScenario one_copy(bool shares_tokens) {
  LendingScenario scenario = two_apart();
  scenario.work = {{{2, 1, 0}}};
  scenario.slowness = {1, 2};
  scenario.enter_s = {};
  scenario.replicated_share = 0.5;
  scenario.shares_tokens = shares_tokens;
  scenario.task_overhead_s = 1.0 / 512;
  scenario.message_overhead_s = 1.0 / 4096;
  scenario.has_spans = true;
  return scenario;
}

TEST(LendingSimulation, a_copied_task_starts_only_after_its_owner_has_granted_the_claim) {
  const LendingScenario scenario = one_copy(false);
  const double task_s = scenario.task_overhead_s, message_s = scenario.message_overhead_s;
  const double data_s = 64 / scenario.card_bytes_per_s;  // time to send a task or a result
  const LendingOutcome outcome = checked(scenario);
  // The first task of rank 0 begins when the copy is packed and two messages are sent. After this
  // task, rank 0 reads three messages of rank 1: one says that rank 1 has entered the wait, one
  // that rank 1 is idle, and one is the claim. Then rank 0 grants the claim.
  const double first_end_s = task_s + 2 * message_s + 1;
  const double starts_s = first_end_s + 4 * message_s + kPassing_s + message_s;
  EXPECT_DOUBLE_EQ(outcome.makespan_s,
                   starts_s + 2 + task_s + message_s + data_s + kPassing_s + message_s + task_s);
  EXPECT_EQ(outcome.copies, 1u);
  EXPECT_EQ(outcome.copies_run, 1u);
  EXPECT_EQ(outcome.lent, 0u);
  EXPECT_EQ(outcome.ran_on_other_nodes, 1u);
  EXPECT_EQ(outcome.lent_bytes, 2 * 64) << "a copy and a result";
  const std::vector<Span>& spans = outcome.ranks[1].spans;
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].activity, Activity::wait);
  EXPECT_EQ(spans[0].start_s, 0);
  EXPECT_DOUBLE_EQ(spans[0].end_s, starts_s);
  EXPECT_EQ(spans[1].activity, Activity::work);
  EXPECT_TRUE(spans[1].is_borrowed);
  EXPECT_DOUBLE_EQ(spans[1].start_s, starts_s);
  EXPECT_DOUBLE_EQ(spans[1].end_s, starts_s + 2);
}

TEST(LendingSimulation, a_copied_task_starts_at_once_if_ranks_claim_it_in_shared_memory) {
  const LendingScenario scenario = one_copy(true);
  const double task_s = scenario.task_overhead_s, message_s = scenario.message_overhead_s;
  const double data_s = 64 / scenario.card_bytes_per_s;
  const LendingOutcome outcome = checked(scenario);
  const double copy_s = task_s + message_s + data_s + kPassing_s + message_s + task_s;
  // Before rank 1 sends the result, it reads a message from rank 0, which says that rank 0 has
  // entered the wait.
  EXPECT_DOUBLE_EQ(outcome.makespan_s, copy_s + 2 + message_s + copy_s);
  EXPECT_EQ(outcome.copies_run, 1u);
  ASSERT_EQ(outcome.ranks[1].spans.size(), 2u);
  EXPECT_DOUBLE_EQ(outcome.ranks[1].spans[1].start_s, copy_s);
}

TEST(LendingSimulation, a_progress_thread_grants_a_claim_while_its_rank_runs_a_task) {
  LendingScenario scenario = one_copy(false);
  const double slow_s = checked(scenario).makespan_s;
  for (const double progress_s : {1.0 / 64, 1.0 / 8}) {
    scenario.progress_s = progress_s;
    const LendingOutcome outcome = checked(scenario);
    // The claim arrives after a few messages. It waits for at most progress_s until the progress
    // thread handles it.
    const double arrives_s = 2 * kPassing_s, starts_s = outcome.ranks[1].spans[1].start_s;
    EXPECT_GT(starts_s, arrives_s + kPassing_s);
    EXPECT_LT(starts_s, arrives_s + kPassing_s + progress_s + 0.01);
    EXPECT_LT(outcome.makespan_s, slow_s - 0.75);
    EXPECT_EQ(outcome.copies_run, 1u);
  }
  scenario.progress_s = 2;  // longer than the task
  EXPECT_EQ(checked(scenario).makespan_s, slow_s);
}

TEST(LendingSimulation, a_rank_that_shares_its_core_takes_twice_as_long) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    LendingScenario scenario = two_apart();
    scenario.seed = seed;
    scenario.slice_s = {0, 0.25};
    scenario.work = {{}, {{8, 0.5, 0}}};
    scenario.enter_s = {};
    const double makespan_s = checked(scenario).makespan_s;
    EXPECT_GE(makespan_s, 8 - 0.25) << "seed " << seed;
    EXPECT_LE(makespan_s, 8 + 0.25) << "seed " << seed;
  }
}

TEST(LendingSimulation, long_decisions_are_rare_if_no_rank_asks_for_tasks) {
  LendingScenario scenario = all_on_one(4, 2000, 100e-6);
  scenario.work.resize(4, {{1800, 100e-6, 0}});
  scenario.settings.pull = false;
  scenario.decision_s = 200e-6;
  const LendingOutcome outcome = checked(scenario);
  // Decisions take at most 1 / kDecisionCostFactor of the time. If a decision were made at every
  // poll, the wait would take three times as long.
  EXPECT_LT(outcome.makespan_s, 1.1 * ideal_makespan_s(scenario));
}

// All ranks are on nodes of their own and equally fast, and decisions and messages take no CPU
// time.
TEST(LendingSimulation, ranks_are_busy_with_tasks_and_with_packing_and_unpacking_them) {
  const Machine machine = machine_from_text("node:12 core:1 overhead:0 copy:0 latency:1e-6");
  std::uint64_t lent = 0, copies = 0;
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    LendingScenario scenario = random_scenario(seed);
    if (seed % 2) scenario.machine = &machine;
    scenario.num_ranks = std::min(scenario.num_ranks, 12u);
    scenario.ranks_per_node = 1;
    scenario.waits = seed % 3 ? 1 : 2;
    scenario.meets = true;  // the outcome is that of the last wait
    scenario.slowness.clear();
    scenario.slice_s.clear();
    scenario.work.resize(scenario.num_ranks);
    scenario.enter_s.resize(scenario.num_ranks);
    scenario.max_delay_s = scenario.stall_share = scenario.news_delay_s = 0;
    scenario.decision_s = scenario.message_overhead_s = 0;
    scenario.task_overhead_s = 3e-6;
    scenario.bytes_per_task = 500;
    // Copies that arrive before the rank enters the wait do not count as work.
    if (scenario.replicated_share > 0) scenario.enter_s.assign(scenario.num_ranks, 0);
    scenario.has_spans = true;
    const LendingOutcome outcome = checked(scenario);
    double busy_s = 0, expected_s = 0;
    for (const SimulatedRank& rank : outcome.ranks) busy_s += rank.busy_s;
    for (const double enter_s : scenario.enter_s) expected_s += enter_s;
    for (const auto& works : scenario.work)
      for (const SimulatedWork& work : works)
        expected_s += work.tasks * (1.0 + work.children) * work.task_s;
    const auto moved =
        static_cast<double>(outcome.lent + outcome.ran_on_other_nodes + outcome.copies);
    EXPECT_NEAR(busy_s, expected_s + 2 * moved * scenario.task_overhead_s, 1e-9);
    EXPECT_NEAR(outcome.lent_bytes, moved * 500 / 2, 1e-6);
    EXPECT_LE(outcome.max_messages_from_one, outcome.messages);
    EXPECT_GE(outcome.max_messages_from_one * scenario.num_ranks, outcome.messages);
    EXPECT_GE(outcome.max_lent_by_one * scenario.num_ranks, outcome.lent);
    const double bytes = static_cast<double>(outcome.messages) * 256 + outcome.lent_bytes;
    EXPECT_GE(outcome.max_bytes_out * scenario.num_ranks, bytes * (1 - 1e-12));
    if (scenario.waits == 1) {
      EXPECT_LE(outcome.max_lent_by_one, outcome.lent);
      EXPECT_LE(outcome.max_bytes_out, bytes * (1 + 1e-12));
    }
    for (const SimulatedRank& rank : outcome.ranks) {
      double last_s = 0;
      for (const Span& span : rank.spans) {
        EXPECT_EQ(span.start_s, last_s);
        EXPECT_GE(span.end_s, span.start_s);
        last_s = span.end_s;
      }
      EXPECT_LE(last_s, rank.left_s);
    }
    lent += outcome.lent;
    copies += outcome.copies_run;
  }
  EXPECT_GT(lent, num_seeds(100));
  EXPECT_GT(copies, num_seeds(100));
}

TEST(LendingSimulation,
     each_message_takes_cpu_time_at_both_ends_unless_it_is_in_flight_when_the_run_ends) {
  for (std::uint64_t seed = 0; seed < num_seeds(30); ++seed) {
    SCOPED_TRACE(seed);
    LendingScenario scenario = all_on_one(6, 100, 1e-3);
    scenario.seed = seed;
    scenario.ranks_per_node = 1;
    scenario.decision_s = scenario.task_overhead_s = 0;
    scenario.message_overhead_s = 1e-6;
    const LendingOutcome outcome = checked(scenario);
    double busy_s = 0;
    for (const SimulatedRank& rank : outcome.ranks) busy_s += rank.busy_s;
    const double messages_s = busy_s - 100e-3;
    const double sent = static_cast<double>(outcome.messages);
    EXPECT_LE(messages_s, 2e-6 * sent + 1e-12);
    EXPECT_GE(messages_s, 2e-6 * sent - 40e-6);
  }
}

TEST(LendingSimulation, a_message_has_as_many_tasks_as_fit_into_it) {
  LendingScenario scenario = all_on_one(2, 1000, 1e-3);
  scenario.settings.pull = false;
  const LendingOutcome whole = checked(scenario);
  for (const auto& [bytes, tasks] : {std::pair{64 * 10, 10}, {64, 1}, {1, 1}}) {
    scenario.message_bytes = bytes;  // a single task may be larger
    const LendingOutcome divided = checked(scenario);
    const double more = static_cast<double>(divided.lent) / tasks;
    EXPECT_NEAR(static_cast<double>(divided.messages), static_cast<double>(whole.messages) + more,
                0.3 * more)
        << bytes;
  }
}

TEST(LendingSimulation, the_ideal_time_is_the_longest_of_three_bounds) {
  LendingScenario scenario;
  scenario.num_ranks = 3;
  scenario.task_overhead_s = 0;
  scenario.work = {{{10, 1, 0}, {0, 99, 0}}, {{5, 2, 1}}};
  scenario.slowness = {2};
  EXPECT_DOUBLE_EQ(ideal_makespan_s(scenario), (10 + 5 * 2 * 2) / 2.5) << "all work at full speed";
  scenario.work = {{{1, 7, 0}}, {{1, 6, 0}}};
  EXPECT_DOUBLE_EQ(ideal_makespan_s(scenario), 7) << "the longest task on the fastest rank";
  scenario.slowness = {2, 4, 3};
  EXPECT_DOUBLE_EQ(ideal_makespan_s(scenario), 14);
  scenario.work = {{{1, 7, 3}}, {{1, 6, 0}}};
  EXPECT_DOUBLE_EQ(ideal_makespan_s(scenario),
                   std::max(28.0, (7 * 4 + 6) / (1 / 2.0 + 1 / 4.0 + 1 / 3.0)))
      << "a task and then one of its children";
  // Rank 0 needs 100 s to run a task, so it lends nearly all of them. Rank 0 packs each task in 1 s
  // and unpacks each result in 1 s.
  scenario.slowness = {100};
  scenario.work = {{{100, 1, 0}}};
  scenario.task_overhead_s = 1;
  EXPECT_DOUBLE_EQ(ideal_makespan_s(scenario), 100 * 2 / (1 + 2 / 100.0));
  // The network card of the first node needs 5 s for each task that leaves the node.
  scenario.task_overhead_s = 0;
  scenario.ranks_per_node = 2;
  scenario.bytes_per_task = 1e6;
  scenario.card_bytes_per_s = 1e5;
  scenario.slowness = {};
  EXPECT_DOUBLE_EQ(ideal_makespan_s(scenario), 100 * 5 / (1 + 2 * 5.0));
  scenario.work = {{}, {}, {{100, 1, 0}}};  // on the second node, which has one rank
  EXPECT_DOUBLE_EQ(ideal_makespan_s(scenario), 100 * 5 / (1 + 1 * 5.0));
  const Machine machine = machine_from_text("node:3 core:1");
  scenario.machine = &machine;
  EXPECT_DOUBLE_EQ(ideal_makespan_s(scenario), 100 / 3.0) << "cards are unlimited";
}

TEST(LendingSimulation, gives_the_same_result_for_the_same_seed) {
  const LendingScenario scenario = random_scenario(7);
  const LendingOutcome a = simulate_lending(scenario), b = simulate_lending(scenario);
  EXPECT_EQ(a.makespan_s, b.makespan_s);
  EXPECT_EQ(a.messages, b.messages);
}

}  // namespace
}  // namespace poise
