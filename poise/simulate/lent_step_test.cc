// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lent_step.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

double lent_step_s(const Machine& machine, const Workload& workload, const Placement& placement) {
  return lent_step(lending_scenario(machine, workload, placement, {.lends = true})).end_s;
}

TEST(LentStep, approaches_perfect_balance_if_many_tasks_start_on_one_place) {
  const Machine machine = machine_from_text("node:2 core:4");
  Workload workload;
  workload.tasks.assign(800, {.load_s = 1e-3});
  const double lent_s = lent_step_s(machine, workload, Placement(800, 0));
  EXPECT_GE(lent_s, 0.1);
  EXPECT_LE(lent_s, 0.115);
}

TEST(LentStep, a_step_takes_as_long_as_its_longest_task_if_the_other_tasks_are_short) {
  const Machine machine = machine_from_text("core:4");
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 0.01}, {.load_s = 0.01}};
  EXPECT_NEAR(lent_step_s(machine, workload, Placement(3, 0)), 1, 1e-3);
}

TEST(LentStep, leaves_background_loads_and_pinned_tasks_where_they_are) {
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  workload.background_s = {0.5, 0};
  workload.tasks = {{.load_s = 0.5, .movable = false}};
  EXPECT_NEAR(lent_step_s(machine, workload, Placement(1, 0)), 1, 1e-3);
}

TEST(LentStep, describes_places_as_ranks_that_are_connected_by_the_links_of_the_machine) {
  MachineParts parts = machine_from_text(
                           "node:3 core:2 speeds:1,0.25 factors:7,1 latency:0.5 overhead:0.125 "
                           "bandwidth:1000 cards:3")
                           .parts();
  parts.costs.inside.latency_s = 0.25;
  const Machine machine(std::move(parts));
  Workload workload;
  workload.background_s = {0.5, 0, 0.25, 0, 0, 0};
  workload.tasks = {{.load_s = 3, .bytes = 40},
                    {.load_s = 5, .bytes = 50, .movable = false},
                    {.load_s = 7, .bytes = 60}};
  const LendingOptions options{
      .lends = true, .replicated_share = 0.75, .shares_tokens = true, .news_delay_s = 0.0625};
  const Placement placement({1, 1, 2});
  const LendingScenario cards = lending_scenario(machine, workload, placement, options);
  EXPECT_EQ(cards.num_ranks, 6u);
  EXPECT_EQ(cards.ranks_per_node, 2u);
  EXPECT_EQ(cards.bytes_per_task, 128 + 50);
  EXPECT_EQ(cards.near_latency_s, 0.25);
  EXPECT_EQ(cards.far_latency_s, 0.5);
  EXPECT_EQ(cards.card_bytes_per_s, 3000);
  EXPECT_EQ(cards.message_overhead_s, machine.costs().network.send_s);
  EXPECT_EQ(cards.progress_s, lending_tuning::kNewsDelay_s);
  EXPECT_EQ(cards.slowness, (std::vector<double>{1, 4, 1, 4, 1, 4}));
  EXPECT_EQ(cards.enter_s, (std::vector<double>{0.5, 5 * 4, 0.25, 0, 0, 0}));
  ASSERT_EQ(cards.work.size(), 6u);
  ASSERT_EQ(cards.work[1].size(), 1u);
  EXPECT_EQ(cards.work[1][0].tasks, 1u);
  EXPECT_EQ(cards.work[1][0].task_s, 3);
  EXPECT_EQ(cards.work[1][0].children, 0u);
  EXPECT_EQ(cards.work[2].size(), 1u);
  EXPECT_TRUE(cards.settings.pull);
  EXPECT_TRUE(cards.settings.loans.push);
  EXPECT_EQ(cards.replicated_share, 0.75);
  EXPECT_TRUE(cards.shares_tokens);
  EXPECT_EQ(cards.news_delay_s, 0.0625);
  EXPECT_EQ(cards.machine, nullptr);
  EXPECT_TRUE(cards.gives_costs);
  EXPECT_EQ(cards.waits, 1u);
  EXPECT_FALSE(cards.meets);
  const LendingScenario links =
      lending_scenario(machine, workload, placement, {}, LendingNetwork::links);
  EXPECT_EQ(links.machine, &machine);
  EXPECT_EQ(links.message_bytes, lending_tuning::kMessageBytes);
  EXPECT_FALSE(links.gives_costs);
  EXPECT_EQ(links.waits, 2u);
  EXPECT_TRUE(links.meets);
  EXPECT_FALSE(links.settings.pull);
  EXPECT_FALSE(links.settings.loans.push);
  const LendingScenario idle = lending_scenario(machine, {}, {}, options);
  EXPECT_EQ(idle.bytes_per_task, 128);
}

TEST(LentStep, loans_of_several_steps_add_up) {
  Loans loans{.tasks = 1, .copies_run = 2, .ran_on_other_nodes = 3, .bytes = 4, .saved_s = 5};
  loans += {.tasks = 10, .copies_run = 20, .ran_on_other_nodes = 30, .bytes = 40, .saved_s = 50};
  EXPECT_EQ(loans.tasks, 11u);
  EXPECT_EQ(loans.copies_run, 22u);
  EXPECT_EQ(loans.ran_on_other_nodes, 33u);
  EXPECT_EQ(loans.bytes, 44);
  EXPECT_EQ(loans.saved_s, 55);
  EXPECT_FALSE(LendingOptions{}.is_on());
  EXPECT_TRUE(LendingOptions{.lends = true}.is_on());
  EXPECT_TRUE(LendingOptions{.replicated_share = 0.1}.is_on());
}

TEST(LentStep, lending_never_beats_the_lower_bound_and_never_lengthens_a_step_by_much) {
  for (std::uint64_t seed = 0; seed < num_seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine =
        machine_from_text(random.below(2) ? "core:6" : "node:3 core:4 speeds:1,0.5");
    Workload workload;
    for (std::uint64_t t = random.below(200); t > 0; --t)
      workload.tasks.push_back({.load_s = random.uniform(0, 2e-3), .movable = random.below(8) > 0});
    Placement placement(workload.num_tasks(), 0);
    for (TaskId t = 0; t < workload.num_tasks(); ++t)
      placement.move(t, static_cast<PlaceId>(random.below(machine.num_places())));
    const double lent_s = lent_step_s(machine, workload, placement);
    EXPECT_GE(lent_s, makespan_bound_s(machine, workload, placement) * (1 - 1e-9));
    const std::vector<double> work_s = poise::work_s(machine, workload, placement);
    const double alone_s = *std::max_element(work_s.begin(), work_s.end());
    EXPECT_LE(lent_s, 1.1 * alone_s + 1e-3);
  }
}

/// Simulates a step whose messages travel over the links of the machine's network.
LentStep over_links(const Machine& machine, const Workload& workload, const Placement& placement) {
  return lent_step(
      lending_scenario(machine, workload, placement, {.lends = true}, LendingNetwork::links));
}

Workload equal_tasks(std::uint32_t count, double load_s, std::uint64_t bytes = 0) {
  Workload workload;
  workload.tasks.assign(count, {.load_s = load_s, .bytes = bytes});
  return workload;
}

Placement evenly(std::uint32_t tasks, std::uint32_t places) {
  Placement placement(tasks, 0);
  for (TaskId t = 0; t < tasks; ++t) placement.move(t, t % places);
  return placement;
}

TEST(LentStepOverLinks, lends_nothing_if_places_are_balanced) {
  for (const char* text : {"core:4", "node:4 core:4"}) {
    const Machine machine = machine_from_text(text);
    const std::uint32_t places = machine.num_places();
    const LentStep step =
        over_links(machine, equal_tasks(20 * places, 1e-3), evenly(20 * places, places));
    EXPECT_EQ(step.loans.tasks, 0u);
    EXPECT_EQ(step.loans.bytes, 0);
    EXPECT_NEAR(step.end_s, 20e-3, 0.2e-3);
  }
}

// The tasks of each place take 17 ms in total, but no place knows how long a task takes. A place
// whose first tasks are short seems to be ahead of the others. If it then borrowed tasks, it would
// end late.
TEST(LentStepOverLinks, lends_little_if_places_are_balanced_even_if_tasks_differ_in_length) {
  POISE_SKIP_IF_SLOW();
  for (const char* text : {"core:8", "node:4 core:8"}) {
    const Machine machine = machine_from_text(text);
    const std::uint32_t places = machine.num_places();
    double ratio = 0;
    const std::uint64_t seeds = 120;  // with 20 seeds, the mean would vary by 1 %
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Random random(seed);
      Workload workload;
      Placement placement(8 * places, 0);
      for (TaskId t = 0; t < 8 * places; ++t) {
        workload.tasks.push_back({.load_s = 0});
        placement.move(t, t % places);
      }
      // Every place gets tasks with the following eight loads, in random order.
      for (PlaceId p = 0; p < places; ++p) {
        std::vector<double> loads_s{0.2e-3, 0.3e-3, 0.5e-3, 1e-3, 2e-3, 3e-3, 4e-3, 6e-3};
        for (std::size_t i = loads_s.size(); i > 1; --i)
          std::swap(loads_s[i - 1], loads_s[random.below(i)]);
        for (std::size_t i = 0; i < loads_s.size(); ++i)
          workload.tasks[p + i * places].load_s = loads_s[i];
      }
      ratio += over_links(machine, workload, placement).end_s / 17e-3 / seeds;
    }
    EXPECT_LE(ratio, 1.02) << text;  // 1.2 and 1.3 on these machines without the margin doubt_s()
  }
}

TEST(LentStepOverLinks, half_of_the_tasks_of_one_place_are_lent_to_an_idle_place) {
  const Machine machine = machine_from_text("node:2 core:1 latency:1e-5");
  const LentStep step = over_links(machine, equal_tasks(400, 1e-3), Placement(400, 0));
  EXPECT_GE(step.end_s, 0.2);
  EXPECT_LE(step.end_s, 0.2 * 1.02 + 40e-6);
  EXPECT_NEAR(static_cast<double>(step.loans.tasks), 200, 5);
}

TEST(LentStepOverLinks,
     tasks_that_start_on_one_place_spread_almost_evenly_over_four_or_sixteen_places) {
  for (const auto& [text, most] : {std::pair{"core:4", 1.02}, std::pair{"node:4 core:4", 1.1}}) {
    const Machine machine = machine_from_text(text);
    const std::uint32_t tasks = 100 * machine.num_places();
    const LentStep step = over_links(machine, equal_tasks(tasks, 1e-3), Placement(tasks, 0));
    EXPECT_GE(step.end_s, 0.1);
    EXPECT_LE(step.end_s, 0.1 * most) << text;
  }
}

TEST(LentStepOverLinks,
     faster_places_borrow_from_a_slow_place_until_the_step_is_nearly_as_short_as_possible) {
  const Machine machine = machine_from_text("core:4 speeds:0.25,1,1,1");
  const LentStep step = over_links(machine, equal_tasks(400, 1e-3), evenly(400, 4));
  EXPECT_GE(step.end_s, 0.4 / 3.25);
  EXPECT_LE(step.end_s, 1.05 * 0.4 / 3.25);
}

// The slow network card needs 50 ms to send a task, the fast one 0.5 ms.
TEST(LentStepOverLinks, the_bytes_of_lent_tasks_take_time_at_the_network_card) {
  const Workload workload = equal_tasks(100, 10e-3, 1'000'000);
  const Machine slow = machine_from_text("node:2 core:1 bandwidth:1e7 latency:1e-6"),
                fast = machine_from_text("node:2 core:1 bandwidth:1e9 latency:1e-6");
  const LentStep over_slow = over_links(slow, workload, Placement(100, 0)),
                 over_fast = over_links(fast, workload, Placement(100, 0));
  EXPECT_LE(over_fast.end_s, 1.05 * 0.5);
  EXPECT_GT(over_slow.loans.tasks, 0u);
  EXPECT_GE(over_slow.end_s, 50e-3 * static_cast<double>(over_slow.loans.tasks));
  EXPECT_GT(over_fast.loans.bytes, 45 * 1e6);
}

// Both network models have the same latencies here, and messages are so small that the bandwidth of
// network cards does not matter.
TEST(LentStepOverLinks, gives_nearly_the_time_of_the_simpler_network_model_if_messages_are_small) {
  for (const char* text : {"core:4", "core:16", "node:2 core:2", "node:8 core:4"}) {
    const Machine machine = machine_from_text(text);
    const std::uint32_t tasks = 50 * machine.num_places();
    const Workload workload = equal_tasks(tasks, 1e-3);
    for (const Placement& placement : {Placement(tasks, 0), evenly(tasks, 3)}) {
      const double links_s = over_links(machine, workload, placement).end_s;
      EXPECT_NEAR(links_s / lent_step_s(machine, workload, placement), 1, 0.05) << text;
    }
  }
}

TEST(LentStepOverLinks, runs_every_task_once_and_is_never_faster_than_the_lower_bound) {
  for (std::uint64_t seed = 0; seed < num_seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = machine_from_text(
        random.below(2) ? "numa:2 core:3" : "rack:2 node:3 core:2 speeds:1,0.5 uplink:1e9");
    Workload workload;
    double work_s = 0;
    for (std::uint64_t t = random.below(200); t > 0; --t) {
      workload.tasks.push_back({.load_s = random.uniform(0, 2e-3), .bytes = random.below(100'000)});
      work_s += workload.tasks.back().load_s;
    }
    Placement placement(workload.num_tasks(), 0);
    for (TaskId t = 0; t < workload.num_tasks(); ++t)
      placement.move(t, static_cast<PlaceId>(random.below(machine.num_places())));
    const LendingScenario scenario =
        lending_scenario(machine, workload, placement, {.lends = true}, LendingNetwork::links);
    const LendingOutcome outcome = simulate_lending(scenario);
    EXPECT_EQ(outcome.trouble, "");
    EXPECT_EQ(outcome.tasks, scenario.waits * workload.num_tasks());
    EXPECT_GE(outcome.end_s, makespan_bound_s(machine, workload, placement) * (1 - 1e-9));
    double done_s = 0;  // work done, in seconds at speed 1; an upper bound, because it contains the
                        // costs of messages
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      done_s += outcome.ranks[p].busy_s * machine.speed_of(p);
    EXPECT_GE(done_s, work_s * (1 - 1e-9));
    EXPECT_EQ(simulate_lending(scenario).end_s, outcome.end_s);
  }
}

TEST(LentStepOverLinks, records_the_activity_of_every_place_at_every_time) {
  const Machine machine = machine_from_text("core:2");
  LendingScenario scenario = lending_scenario(machine, equal_tasks(10, 1e-3), Placement(10, 0),
                                              {.lends = true}, LendingNetwork::links);
  scenario.has_spans = true;
  const LentStep step = lent_step(scenario);
  double borrowed_s = 0, work_s = 0;
  for (const SimulatedRank& place : step.places) {
    double until_s = 0;
    for (const Span& span : place.spans) {
      EXPECT_EQ(span.start_s, until_s);
      until_s = span.end_s;
      if (span.activity != Activity::work) continue;
      work_s += span.end_s - span.start_s;
      if (span.is_borrowed) borrowed_s += span.end_s - span.start_s;
    }
    EXPECT_LE(until_s, step.end_s);
  }
  EXPECT_NEAR(work_s, 10e-3, 0.1e-3);
  EXPECT_NEAR(borrowed_s, static_cast<double>(step.loans.tasks) * 1e-3, 0.1e-3);
}

}  // namespace
}  // namespace poise
