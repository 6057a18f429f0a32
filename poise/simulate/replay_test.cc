// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/replay.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/simulate/event_steps.h"
#include "poise/simulate/tuning.h"

namespace poise {
namespace {

using testing::ElementsAre;

Decide deciding(const char* strategy, double decision_s = 0) {
  return [choice = parse_strategy(strategy), decision_s](const Problem& problem) {
    return TimedDecision{choice.rebalance(problem), decision_s};
  };
}

Phase phase_of(const std::vector<double>& loads_s, std::uint64_t bytes = 0) {
  Phase phase;
  for (const double load_s : loads_s) phase.workload.tasks.push_back({load_s, bytes});
  return phase;
}

Trace trace_of(const std::vector<std::vector<double>>& loads_s) {
  Trace trace;
  for (const auto& of_phase : loads_s) trace.phases.push_back(phase_of(of_phase));
  for (std::size_t i = 0; i < trace.phases.size(); ++i) trace.phases[i].id = i;
  return trace;
}

TEST(Replay, matches_a_hand_computation_for_four_equal_tasks_that_start_on_one_of_two_places) {
  Trace trace;
  trace.phases = {phase_of({1, 1, 1, 1}, 1'000'000'000)};
  const Machine machine = flat_machine(2);  // a migrated byte takes 1 ns
  const Replayer replayer(trace, machine, Placement(4), {.steps = 4, .every = 2});
  const Replay unbalanced = replayer.run({});
  EXPECT_EQ(unbalanced.total_s, 16);
  EXPECT_EQ(unbalanced.decisions, 0u);

  const Replay balanced = replayer.run(deciding("greedy", 0.25));
  EXPECT_EQ(balanced.steps[1].iteration_s, 4);
  EXPECT_EQ(balanced.steps[2].iteration_s, 2);
  EXPECT_EQ(balanced.steps[2].migrations, 2u);
  EXPECT_EQ(balanced.steps[2].migration_s, 2);
  EXPECT_EQ(balanced.decisions, 1u);
  EXPECT_EQ(balanced.total_s, 4 + 4 + 0.25 + 2 + 2 + 2);
  EXPECT_EQ(replayer.total_bound_s(), 8);
  EXPECT_EQ(replayer.total_average_s(), 8);
}

TEST(Replay, counts_the_messages_that_each_place_receives_from_other_places_in_the_last_step) {
  Trace trace;
  trace.phases = {phase_of({1, 1, 1})};
  trace.phases[0].workload.messages = {{0, 1, 2, 200}, {0, 2, 5, 500}};
  const Replayer replayer(trace, flat_machine(2), Placement(3), {.steps = 3, .every = 2});
  std::vector<std::uint64_t> steps;
  const Replay unbalanced = replayer.run({}, [&](std::uint64_t step) { steps.push_back(step); });
  EXPECT_THAT(unbalanced.received_messages, ElementsAre(0, 0));
  EXPECT_THAT(steps, ElementsAre(1, 2, 3));
  const Decide move_last = [](const Problem&) {
    return TimedDecision{Placement(std::vector<PlaceId>{0, 0, 1}), 0};
  };
  EXPECT_THAT(replayer.run(move_last).received_messages, ElementsAre(0, 5));
}

TEST(Replay, the_strategy_gets_the_measurements_of_the_previous_step) {
  const Replayer replayer(trace_of({{1, 10}, {2, 20}, {3, 30}, {4, 40}, {5, 50}}), flat_machine(2),
                          Placement(2), {.steps = 7, .every = 2});
  std::vector<double> seen_s;
  std::vector<std::vector<double>> past_s;
  replayer.run([&](const Problem& problem) {
    seen_s.push_back(problem.workload.tasks[0].load_s);
    past_s.emplace_back();
    for (const auto& loads_s : problem.past_loads_s) past_s.back().push_back(loads_s[0]);
    return TimedDecision{problem.current};
  });
  // The strategy decides before steps 2, 4 and 6. Steps are numbered from 0, and step 5 repeats the
  // last phase.
  EXPECT_THAT(seen_s, ElementsAre(2, 4, 5));
  EXPECT_THAT(past_s,
              ElementsAre(ElementsAre(1), ElementsAre(1, 2, 3), ElementsAre(1, 2, 3, 4, 5)));
}

TEST(Replay, after_the_end_of_a_trace_either_the_last_phase_or_the_whole_trace_is_repeated) {
  const Trace trace = trace_of({{1}, {2}, {3}});
  const auto phases = [&](Beyond beyond) {
    const Replayer replayer(trace, flat_machine(1), Placement(1), {.steps = 7, .beyond = beyond});
    std::vector<std::size_t> seen;
    for (const ReplayStep& step : replayer.run({}).steps) seen.push_back(step.phase);
    return seen;
  };
  EXPECT_THAT(phases(Beyond::hold), ElementsAre(0, 1, 2, 2, 2, 2, 2));
  EXPECT_THAT(phases(Beyond::cycle), ElementsAre(0, 1, 2, 0, 1, 2, 0));
}

TEST(Replay, finds_a_task_in_all_phases_by_its_name) {
  Trace trace = trace_of({{1, 5}, {5, 1}});  // the phases list the two tasks in different orders
  trace.phases[0].names = {{.id = 70}, {.id = 80}};
  trace.phases[1].names = {{.id = 80}, {.id = 70}};
  std::vector<PlaceId> seen;
  std::vector<double> past_s;
  const Replayer replayer(trace, flat_machine(2), Placement(std::vector<PlaceId>{0, 1}),
                          {.steps = 3, .every = 2});
  replayer.run([&](const Problem& problem) {
    seen.assign(problem.current.places().begin(), problem.current.places().end());
    past_s = problem.past_loads_s[0];
    return TimedDecision{problem.current};
  });
  EXPECT_THAT(seen, ElementsAre(1, 0));
  EXPECT_THAT(past_s, ElementsAre(5, 1));
}

TEST(Replay, background_loads_of_places_that_the_machine_lacks_are_ignored) {
  Trace trace = trace_of({{1, 1}});
  trace.phases[0].workload.background_s = {3, 0.5};
  const auto iteration_s = [&](const Machine& machine, const std::vector<PlaceId>& start) {
    return Replayer(trace, machine, Placement(start), {.steps = 1, .every = 1})
        .run(deciding("keep"))
        .iteration_s;
  };
  EXPECT_DOUBLE_EQ(iteration_s(flat_machine(1), {0, 0}), 5);
  EXPECT_DOUBLE_EQ(iteration_s(flat_machine(2), {1, 1}), 3);
  EXPECT_DOUBLE_EQ(iteration_s(flat_machine(3), {1, 2}), 3);
  EXPECT_DOUBLE_EQ(iteration_s(flat_machine(3), {0, 2}), 4);
}

TEST(Replay, a_task_that_appears_later_starts_at_the_place_recorded_in_the_trace) {
  Trace trace = trace_of({{1, 1}, {1, 1, 1, 1}, {1}});
  trace.phases[0].names = {{.id = 0}, {.id = 1}};
  trace.phases[1].names = {{.id = 0}, {.id = 1}, {.id = 2}, {.id = 3}};
  // The machine of this test has 2 places, so place 9 does not exist.
  trace.phases[1].placement = Placement(std::vector<PlaceId>{0, 0, 1, 9});
  trace.phases[2].names = {{.id = 3}};
  std::vector<std::vector<PlaceId>> seen;
  const Replayer replayer(trace, flat_machine(2), Placement(std::vector<PlaceId>{1, 1}),
                          {.steps = 4, .every = 1});
  replayer.run([&](const Problem& problem) {
    seen.emplace_back(problem.current.places().begin(), problem.current.places().end());
    return TimedDecision{problem.current};
  });
  EXPECT_THAT(seen, ElementsAre(ElementsAre(1, 1), ElementsAre(1, 1, 1, 1), ElementsAre(1)));
}

/// A trace with random names, loads, messages and background loads, in which tasks come and go.
Trace random_trace(Random& random, std::uint32_t num_places) {
  Trace trace;
  trace.num_places = num_places;
  for (std::uint64_t i = 0; i < 1 + random.below(4); ++i) {
    Phase phase;
    phase.id = i;
    for (std::uint64_t id = 0; id < 12; ++id)
      if (random.below(6) > 0) phase.names.push_back({.id = id});
    if (phase.names.empty()) phase.names.push_back({.id = 3});
    for (std::size_t t = phase.names.size(); t > 1; --t)
      std::swap(phase.names[t - 1], phase.names[random.below(t)]);
    const auto num_tasks = static_cast<TaskId>(phase.names.size());
    phase.placement = Placement(num_tasks);
    for (TaskId t = 0; t < num_tasks; ++t) {
      phase.workload.tasks.push_back({random.uniform(), random.below(1'000'000'000)});
      phase.placement.move(t, static_cast<PlaceId>(random.below(num_places)));
      phase.workload.messages.push_back({t, static_cast<TaskId>(random.below(num_tasks)), 1, 10});
    }
    for (PlaceId p = 0; p < num_places; ++p)
      phase.workload.background_s.push_back(random.uniform());
    trace.phases.push_back(phase);
  }
  return trace;
}

TEST(Replay, gives_the_same_times_as_a_simple_replay_that_uses_the_cost_formula) {
  for (std::uint64_t seed = 0; seed < num_seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine =
        machine_from_text("numa:2 core:2 speeds:1,0.5 message:0.1 byte:0.001 migrated_byte:1e-9");
    const Trace trace = random_trace(random, 4);
    const std::uint64_t every = 1 + random.below(3);
    const char* strategy = random.below(2) == 0 ? "greedy" : "rotate";
    const Replay replay = Replayer(trace, machine, trace.phases[0].placement,
                                   {.steps = 9, .every = every, .beyond = Beyond::cycle})
                              .run(deciding(strategy, 0.5));

    std::map<std::uint64_t, PlaceId> place_of;  // by name
    for (const Phase& phase : trace.phases)
      for (TaskId t = 0; t < phase.names.size(); ++t)
        place_of.emplace(phase.names[t].id, phase.placement.of(t));
    const auto placement_in = [&](const Phase& phase) {
      Placement placement(phase.workload.num_tasks());
      for (TaskId t = 0; t < phase.names.size(); ++t)
        placement.move(t, place_of.at(phase.names[t].id));
      return placement;
    };
    double total_s = 0;
    for (std::size_t step = 0; step < 9; ++step) {
      if (step > 0 && step % every == 0) {
        const Phase& measured = trace.phases[(step - 1) % trace.phases.size()];
        const Placement before = placement_in(measured);
        const Placement after = parse_strategy(strategy).rebalance(
            {machine, measured.workload, before, machine.costs()});
        const Metrics cost = evaluate(machine, measured.workload, machine.costs(), before, after);
        total_s += 0.5 + cost.migration_s;
        EXPECT_EQ(replay.steps[step].migrations, cost.migrations);
        for (TaskId t = 0; t < measured.names.size(); ++t)
          place_of[measured.names[t].id] = after.of(t);
      }
      const Phase& phase = trace.phases[step % trace.phases.size()];
      const Placement now = placement_in(phase);
      const Metrics metrics = evaluate(machine, phase.workload, machine.costs(), now, now);
      EXPECT_EQ(replay.steps[step].iteration_s, metrics.iteration_s);
      EXPECT_EQ(replay.steps[step].makespan_s, metrics.makespan_s);
      total_s += metrics.iteration_s;
    }
    EXPECT_NEAR(replay.total_s, total_s, 1e-9);
  }
}

TEST(Replay, the_time_of_all_steps_is_at_least_the_sum_of_their_lower_bounds) {
  for (std::uint64_t seed = 0; seed < num_seeds(50); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Trace trace = random_trace(random, 4);
    const Replayer replayer(trace, flat_machine(4), trace.phases[0].placement,
                            {.steps = 12, .every = 2, .overlap = true});
    for (const char* strategy : {"greedy", "refine", "keep"}) {
      const Replay replay = replayer.run(deciding(strategy));
      EXPECT_GE(replay.iteration_s, replayer.total_bound_s() - 1e-9);
      EXPECT_GE(replayer.total_bound_s(), replayer.total_average_s() - 1e-9);
      EXPECT_GE(replay.overlapped_s, replayer.total_average_s() - 1e-9);
    }
  }
}

TEST(Replay, the_lower_bound_allows_tasks_to_move_before_the_phase_that_pins_them) {
  Trace trace = trace_of({{3, 3}, {3, 3}});
  for (Task& task : trace.phases[1].workload.tasks) task.movable = false;
  const Replayer replayer(trace, flat_machine(2), Placement(2), {.steps = 2, .every = 1});
  EXPECT_EQ(replayer.run(deciding("greedy")).steps[1].iteration_s, 3);
  EXPECT_EQ(replayer.bound_s(1), 3);
  for (Task& task : trace.phases[0].workload.tasks) task.movable = false;
  EXPECT_EQ(Replayer(trace, flat_machine(2), Placement(2), {.steps = 2}).bound_s(1), 6);
}

TEST(Replay, if_all_steps_are_equal_a_run_takes_no_longer_with_overlapping_steps_than_without) {
  for (std::uint64_t seed = 0; seed < num_seeds(50); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Trace trace = random_trace(random, 4);
    trace.phases.resize(1);
    const Replay replay = Replayer(trace, flat_machine(4), trace.phases[0].placement,
                                   {.steps = 10, .every = 3, .overlap = true})
                              .run(deciding("rotate", 0.1));
    EXPECT_LE(replay.overlapped_s, replay.total_s + 1e-9);
    EXPECT_GE(replay.overlapped_s, replay.migration_s + replay.decision_s);
  }
}

TEST(Replay, throws_if_the_trace_or_the_plan_or_a_placement_is_invalid) {
  const Trace trace = trace_of({{1, 1}});
  const Machine machine = flat_machine(2);
  EXPECT_THROW(Replayer(trace, machine, Placement(2), {.steps = 0}), Error);
  EXPECT_THROW(Replayer(trace, machine, Placement(2), {.steps = simulate_tuning::kMaxSteps + 1}),
               Error);
  EXPECT_THROW(Replayer(trace, machine, Placement(2), {.steps = 1, .every = 0}), Error);
  EXPECT_THROW(Replayer(trace, machine, Placement(3), {.steps = 1}), Error);
  EXPECT_THROW(Replayer(trace, machine, Placement(std::vector<PlaceId>{0, 2}), {.steps = 1}),
               Error);
  EXPECT_THROW(Replayer(Trace{}, machine, Placement(2), {.steps = 1}), Error);
  const Replayer replayer(trace, machine, Placement(2), {.steps = 2});
  EXPECT_THROW(replayer.run([](const Problem&) { return TimedDecision{Placement(1)}; }), Error);
  Trace twins = trace;
  twins.phases[0].names = {{.id = 1}, {.id = 1}};
  EXPECT_THROW(Replayer(twins, machine, Placement(2), {.steps = 1}), Error);
}

/// A machine on which only bytes between nodes cost time, at 1 GB/s.
Machine nodes_on_a_switch() {
  return machine_from_text(
      "node:2 core:1 factors:1,1 bandwidth:1e9 bus:0 gap:0 copy:0 latency:0 overhead:0 "
      "migrated_byte:0 migrated_task:0");
}

TEST(Replay, the_event_engine_simulates_iterations_and_migrations_between_nodes) {
  Trace trace;
  trace.phases = {phase_of({1, 1, 1, 1}, 1'000'000'000)};
  const Replayer replayer(
      trace, nodes_on_a_switch(), Placement(4),
      {.steps = 4, .every = 2, .events = EngineOptions{}, .has_timeline = true});
  const Replay replay = replayer.run(deciding("greedy", 0.25));
  EXPECT_EQ(replay.steps[1].iteration_s, 4);
  EXPECT_DOUBLE_EQ(replay.steps[1].idle_share, 0.5);
  EXPECT_DOUBLE_EQ(replay.steps[2].migration_s, 2);
  EXPECT_DOUBLE_EQ(replay.total_s, 4 + 4 + 0.25 + 2 + 2 + 2);
  EXPECT_DOUBLE_EQ(replay.idle_share, 4.0 / 12);
  EXPECT_EQ(replay.balanced_s, 2);
  EXPECT_EQ(replay.formula_s, replay.iteration_s);
}

/// The steps of a trace that begins again when it has ended, and the places of its named tasks.
struct NamedTasks {
  NamedTasks(const Trace& its_trace, const ReplayPlan& its_plan)
      : trace(its_trace), plan(its_plan) {
    // Objects are numbered in the order in which the trace first lists them.
    for (const Phase& phase : trace.phases)
      for (TaskId t = 0; t < phase.names.size(); ++t) {
        place_of.emplace(phase.names[t].id, phase.placement.of(t));
        number_of.emplace(phase.names[t].id, number_of.size());
      }
  }
  /// The phase with the loads and the placement of this step.
  Phase at(std::size_t step) const {
    Phase phase = trace.phases[step % trace.phases.size()];
    std::vector<double> factors(number_of.size(), 1);
    if (plan.loads) plan.loads->set_factors(step, plan.seed, factors);
    for (TaskId t = 0; t < phase.names.size(); ++t) {
      phase.workload.tasks[t].load_s *= factors[number_of.at(phase.names[t].id)];
      phase.placement.move(t, place_of.at(phase.names[t].id));
    }
    return phase;
  }
  /// Moves the tasks of a phase. Counts the tasks that change places, and adds up their bytes.
  void move(const Phase& phase, const Placement& after) {
    for (TaskId t = 0; t < phase.names.size(); ++t) {
      if (after.of(t) == phase.placement.of(t)) continue;
      place_of[phase.names[t].id] = after.of(t);
      ++migrations;
      bytes += phase.workload.tasks[t].bytes;
    }
  }

  const Trace& trace;
  const ReplayPlan& plan;
  std::map<std::uint64_t, PlaceId> place_of;
  std::map<std::uint64_t, std::size_t> number_of;
  std::uint64_t migrations = 0, bytes = 0;
};

TEST(Replay, gives_the_same_times_as_a_simple_replay_that_simulates_every_step) {
  for (std::uint64_t seed = 0; seed < num_seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = machine_from_text(
        "node:2 core:2 speeds:1,0.5 factors:2,1 latency:0.01 bandwidth:1e3 "
        "overhead:0.02 migrated_byte:1e-9");
    const Trace trace = random_trace(random, 4);
    ReplayPlan plan{.steps = 7, .every = 2, .beyond = Beyond::cycle, .seed = seed};
    plan.events = EngineOptions();
    if (seed % 2) plan.loads = parse_load_model("grow:share=0.5,rate=0.5");
    const Replayer replayer(trace, machine, trace.phases[0].placement, plan);
    std::vector<std::uint64_t> steps_done;
    const Replay replay = replayer.run(deciding("rotate", 0.25),
                                       [&](std::uint64_t steps) { steps_done.push_back(steps); });

    NamedTasks tasks(trace, plan);
    double total_s = 0, since_s = 0, idle_s = 0, iterations_s = 0, formula_s = 0;
    for (std::size_t step = 0; step < 7; ++step) {
      const ReplayStep& result = replay.steps[step];
      EventSteps events(machine, *plan.events, {}, 1);
      if (step > 0 && step % 2 == 0) {
        const Phase measured = tasks.at(step - 1);
        const Placement after = parse_strategy("rotate").rebalance(
            {machine, measured.workload, measured.placement, machine.costs()});
        const double migration_s = events.migration_s(measured.workload, measured.placement, after);
        const double collection_s = events.collection_s(measured.workload, measured.placement);
        EXPECT_DOUBLE_EQ(result.migration_s, migration_s);
        EXPECT_DOUBLE_EQ(result.collection_s, collection_s);
        EXPECT_EQ(result.decision_s, 0.25);
        total_s += 0.25 + migration_s + collection_s;
        tasks.move(measured, after);
      }
      const Phase now = tasks.at(step);
      const Iteration iteration = events.step(0, now.workload, now.placement).iteration;
      EXPECT_DOUBLE_EQ(result.iteration_s, iteration.end_s);
      EXPECT_DOUBLE_EQ(result.idle_share, iteration.idle_share());
      const Metrics metrics =
          evaluate(machine, now.workload, machine.costs(), now.placement, now.placement);
      EXPECT_DOUBLE_EQ(result.formula_s, metrics.iteration_s);
      EXPECT_EQ(result.phase, step % trace.phases.size());
      EXPECT_DOUBLE_EQ(replayer.average_s(step),
                       makespan_bounds(machine, now.workload, now.placement).average_s);
      iterations_s += iteration.end_s;
      formula_s += metrics.iteration_s;
      idle_s += iteration.end_s * iteration.idle_share();
      if (step >= 2) since_s += iteration.end_s;
    }
    EXPECT_NEAR(replay.iteration_s, iterations_s, 1e-9);
    EXPECT_NEAR(replay.formula_s, formula_s, 1e-9);
    EXPECT_NEAR(replay.total_s, total_s + iterations_s, 1e-12 * replay.total_s);
    EXPECT_NEAR(replay.balanced_s, since_s / 5, 1e-9) << "the steps since the first decision";
    EXPECT_NEAR(replay.idle_share, idle_s / iterations_s, 1e-9);
    EXPECT_EQ(replay.decision_s, 3 * 0.25);
    EXPECT_EQ(replay.decisions, 3u);
    EXPECT_EQ(replay.migrations, tasks.migrations);
    EXPECT_EQ(replay.migrated_bytes, tasks.bytes);
    EXPECT_THAT(steps_done, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  }
}

TEST(Replay, the_strategy_gets_the_seed_and_the_number_of_steps_until_the_next_decision) {
  for (const std::uint64_t every : {2u, 500u}) {
    const Replayer replayer(trace_of({{1, 2}}), flat_machine(2), Placement(2),
                            {.steps = every + 1, .every = every, .seed = 7});
    int decisions = 0;
    replayer.run([&](const Problem& problem) {
      EXPECT_EQ(problem.steps, static_cast<double>(every));
      EXPECT_EQ(problem.seed, 7u);
      ++decisions;
      return TimedDecision{problem.current};
    });
    EXPECT_EQ(decisions, 1);
  }
}

TEST(Replay, the_strategy_sees_the_loads_of_at_most_the_last_thousand_steps) {
  const Replayer replayer(
      trace_of({{1, 2}}), flat_machine(2), Placement(2),
      {.steps = 1202, .every = 600, .loads = parse_load_model("grow:share=1,rate=1")});
  std::vector<std::size_t> sizes;
  std::vector<double> oldest_s;
  replayer.run([&](const Problem& problem) {
    sizes.push_back(problem.past_loads_s.size());
    oldest_s.push_back(problem.past_loads_s[0][1]);
    EXPECT_EQ(problem.past_loads_s.back()[1], problem.workload.tasks[1].load_s - 2);
    return TimedDecision{problem.current};
  });
  EXPECT_THAT(sizes, ElementsAre(599, 1000));
  EXPECT_THAT(oldest_s, ElementsAre(2, 2 * (1 + 199)));
}

TEST(Replay, the_mean_iteration_time_covers_the_steps_after_the_first_decision) {
  for (const auto& [every, mean_s] : {std::pair(1, 4.0), {2, 6.0}, {3, 3.0}}) {
    const Replayer replayer(trace_of({{1}, {2}, {6}}), flat_machine(1), Placement(1),
                            {.steps = 3, .every = static_cast<std::uint64_t>(every)});
    EXPECT_DOUBLE_EQ(replayer.run({}).balanced_s, mean_s) << "without balancing";
    EXPECT_DOUBLE_EQ(replayer.run(deciding("keep")).balanced_s, mean_s);
    EXPECT_EQ(replayer.num_objects(), 1u);
  }
}

TEST(Replay, places_wait_for_decisions_and_for_new_tasks_even_if_steps_overlap) {
  // Place 0 works for 3 s per step, place 1 for 1 s.
  Trace trace = trace_of({{3, 1}, {3, 1}, {3, 1}, {3, 1, 1}});
  const Replayer replayer(trace, flat_machine(2), Placement(std::vector<PlaceId>{0, 1}),
                          {.steps = 4, .every = 2, .overlap = true});
  const Replay replay = replayer.run(deciding("keep", 0.5));
  std::vector<double> ends_s;
  for (const ReplayStep& step : replay.steps) ends_s.push_back(step.overlapped_end_s);
  EXPECT_THAT(ends_s, ElementsAre(3, 6, 9.5, 13.5));  // the new task 2 starts at place 0
  EXPECT_EQ(replay.overlapped_s, 13.5);
}

TEST(Replay, every_step_ends_with_a_barrier_if_the_plan_asks_for_one) {
  Trace trace;
  trace.phases = {phase_of({2, 1, 1, 1})};
  const Machine machine =
      machine_from_text("node:4 core:1 factors:1,1 overhead:0 latency:1 bandwidth:0 bus:0 copy:0");
  const auto run = [&](bool has_barrier) {
    const Replayer replayer(trace, machine, Placement(std::vector<PlaceId>{0, 1, 2, 3}),
                            {.steps = 3, .events = EngineOptions{.has_barrier = has_barrier}});
    return replayer.run({}).iteration_s;
  };
  EXPECT_EQ(run(false), 3 * 2);
  EXPECT_EQ(run(true), 3 * (2 + 2));  // each barrier takes two rounds of messages
}

TEST(Replay, both_engines_apply_every_rule_for_waiting_between_subphases) {
  Trace trace = trace_of({{4, 4}});
  trace.phases[0].workload.subphase_load_s = {{3, 1}, {1, 3}};
  const std::map<SubphaseRule, double> expected_s{
      {SubphaseRule::no_wait, 4}, {SubphaseRule::wait, 6}, {SubphaseRule::overlap, 3}};
  for (const auto& [rule, end_s] : expected_s)
    for (const bool has_events : {false, true}) {
      ReplayPlan plan{.steps = 2, .subphases = rule, .has_timeline = has_events};
      if (has_events) plan.events = EngineOptions();
      const Replay replay =
          Replayer(trace, flat_machine(2), Placement(std::vector<PlaceId>{0, 1}), plan).run({});
      EXPECT_EQ(replay.steps[0].iteration_s, end_s);
      EXPECT_EQ(replay.total_s, 2 * end_s);
      for (const std::vector<Span>& spans : replay.places) {
        EXPECT_EQ(spans.front().start_s, 0);
        EXPECT_EQ(spans.back().end_s, 2 * end_s);
      }
      const bool is_idle = has_events && rule != SubphaseRule::no_wait;
      EXPECT_DOUBLE_EQ(replay.idle_share, is_idle ? 1.0 / 3 : 0);
    }
}

TEST(Replay, no_step_ends_before_its_lower_bound_if_subphases_overlap) {
  Trace trace = trace_of({{4, 4}});
  trace.phases[0].workload.subphase_load_s = {{3, 1}, {1, 3}};
  ReplayPlan plan{.steps = 2, .subphases = SubphaseRule::overlap};
  for (const char* loads : {"", "jump:factor=1"}) {
    if (*loads) plan.loads = parse_load_model(loads);
    const Replayer replayer(trace, flat_machine(2), Placement(std::vector<PlaceId>{0, 1}), plan);
    EXPECT_EQ(replayer.run({}).total_s, 2 * 3) << loads;
    EXPECT_EQ(replayer.total_bound_s(), 2 * 3) << loads;
    EXPECT_EQ(replayer.total_average_s(), 2 * 2) << loads;
  }
}

TEST(Replay, the_lower_bound_allows_for_tasks_that_juggle_divides_between_places) {
  ReplayPlan plan{.steps = 1, .events = EngineOptions()};
  const Placement start(std::vector<PlaceId>{0, 0, 1});
  const Replayer apart(trace_of({{1, 1, 1}}), flat_machine(2), start, plan);
  EXPECT_EQ(apart.bound_s(0), 2);
  plan.events->juggle_period_s = 0.01;
  const Replayer juggled(trace_of({{1, 1, 1}}), flat_machine(2), start, plan);
  EXPECT_DOUBLE_EQ(juggled.bound_s(0), 1.5);
  EXPECT_NEAR(juggled.run({}).iteration_s, 1.5, 0.02);
}

TEST(Replay, each_subphase_sends_its_share_of_the_messages) {
  Trace trace = trace_of({{4, 0}});
  trace.phases[0].workload.subphase_load_s = {{3, 1}, {0, 0}};
  trace.phases[0].workload.messages = {{0, 1, 1, 4000}};
  const Machine machine = machine_from_text(
      "node:2 core:1 factors:1,1 latency:0.25 bandwidth:1000 overhead:0 copy:0 gap:0 bus:0");
  ReplayPlan plan{.steps = 1, .events = EngineOptions(), .subphases = SubphaseRule::wait};
  const Replayer replayer(trace, machine, Placement(std::vector<PlaceId>{0, 1}), plan);
  // The first subphase takes 3 s of work and sends 3,000 of the 4,000 bytes; the second takes 1 s
  // of work and sends the rest. Each also takes one latency of a message.
  EXPECT_DOUBLE_EQ(replayer.run({}).total_s, (3 + 0.25 + 3) + (1 + 0.25 + 1));
}

TEST(Replay, the_timeline_of_each_place_covers_the_whole_run_without_gaps) {
  Trace trace;
  trace.phases = {phase_of({1, 2, 3, 4}, 1'000'000'000)};
  trace.phases[0].workload.messages = {{0, 3, 1, 500'000'000}, {2, 1, 1, 1'000'000'000}};
  trace.phases[0].workload.overlap = 0.25;
  const Replayer replayer(
      trace, nodes_on_a_switch(), Placement(4),
      {.steps = 4, .every = 2, .events = EngineOptions{}, .has_timeline = true});
  const Replay replay = replayer.run(deciding("greedy", 0.25));
  ASSERT_EQ(replay.places.size(), 2u);
  double work_s = 0;
  for (const auto& spans : replay.places) {
    double now_s = 0;
    for (const Span& span : spans) {
      EXPECT_DOUBLE_EQ(span.start_s, now_s);
      now_s = span.end_s;
    }
    EXPECT_DOUBLE_EQ(now_s, replay.total_s);
    work_s += seconds_of(spans)[0];
  }
  EXPECT_DOUBLE_EQ(work_s, 4 * 10);
  const Replayer formula(trace, nodes_on_a_switch(), Placement(4), {.steps = 1});
  EXPECT_TRUE(formula.run({}).places.empty());
  EXPECT_THROW(
      Replayer(trace, nodes_on_a_switch(), Placement(4), {.steps = 1, .has_timeline = true}),
      Error);
}

TEST(Replay, places_lend_tasks_within_a_step_and_the_strategy_moves_tasks_between_steps) {
  Trace trace;
  trace.phases = {phase_of(std::vector<double>(40, 0.01))};
  ReplayPlan plan{.steps = 4, .every = 2, .events = EngineOptions{}, .has_timeline = true};
  const Machine machine = machine_from_text("core:2");
  const Replay apart = Replayer(trace, machine, Placement(40), plan).run(deciding("greedy", 0));
  plan.lending.lends = true;
  const Replay both = Replayer(trace, machine, Placement(40), plan).run(deciding("greedy", 0));
  EXPECT_EQ(both.steps[0].iteration_s, both.steps[1].iteration_s);
  EXPECT_NEAR(both.steps[1].iteration_s, 0.2, 0.005);
  EXPECT_NEAR(both.steps[1].loans.saved_s, 0.2, 0.005);
  EXPECT_EQ(both.steps[1].loans.saved_s, apart.steps[1].iteration_s - both.steps[1].iteration_s);
  EXPECT_NEAR(both.steps[1].idle_share, 0, 0.02);
  EXPECT_EQ(both.steps[3].loans.tasks, 0u);
  EXPECT_EQ(both.loans.tasks, 2 * both.steps[0].loans.tasks);
  double borrowed_s = 0;
  for (const auto& spans : both.places) {
    double now_s = 0;
    for (const Span& span : spans) {
      EXPECT_DOUBLE_EQ(span.start_s, now_s);
      now_s = span.end_s;
      if (span.is_borrowed) borrowed_s += span.end_s - span.start_s;
    }
    EXPECT_DOUBLE_EQ(now_s, both.total_s);
  }
  EXPECT_NEAR(borrowed_s, 0.01 * static_cast<double>(both.loans.tasks), 0.02);
  plan.events->juggle_period_s = 0.1;
  EXPECT_THROW(Replayer(trace, machine, Placement(40), plan), Error);
}

TEST(Replay, loads_follow_the_load_model_and_decisions_use_the_loads_of_the_previous_step) {
  Trace trace;
  trace.phases = {phase_of({1, 2, 3, 4})};
  const Replayer replayer(
      trace, flat_machine(2), Placement(4),
      {.steps = 4, .every = 2, .loads = parse_load_model("jump:at=2,share=1,factor=3")});
  std::vector<double> seen_s;
  const Replay replay = replayer.run([&](const Problem& problem) {
    seen_s.push_back(problem.workload.tasks[0].load_s);
    return TimedDecision{problem.current};
  });
  std::vector<double> iterations_s;
  for (const ReplayStep& step : replay.steps) iterations_s.push_back(step.iteration_s);
  EXPECT_THAT(iterations_s, ElementsAre(10, 10, 30, 30));
  EXPECT_THAT(seen_s, ElementsAre(1));
  EXPECT_EQ(replayer.bound_s(1), 5);
  EXPECT_EQ(replayer.bound_s(2), 15);
}

std::uint64_t num_applied = 0;

TEST(Replay,
     computes_the_loads_of_a_step_only_a_few_times_although_every_later_decision_sees_them) {
  const LoadModelKind counting{
      "counting",
      "",
      [](const Knobs&, std::uint64_t step, std::uint64_t, std::span<double> factors) {
        ++num_applied;
        for (double& factor : factors) factor += step;
      },
      {}};
  const Replayer replayer(trace_of({{1, 2}}), flat_machine(2), Placement(2),
                          {.steps = 200, .every = 1, .loads = LoadModel{&counting, Knobs({})}});
  num_applied = 0;
  std::size_t decisions = 0;
  replayer.run([&](const Problem& problem) {
    EXPECT_EQ(problem.past_loads_s.size(), decisions);
    for (std::size_t step = 0; step < decisions; ++step)
      EXPECT_THAT(problem.past_loads_s[step], ElementsAre(1 + step, 2 * (1 + step)));
    ++decisions;
    return TimedDecision{problem.current};
  });
  EXPECT_EQ(decisions, 199u);
  EXPECT_LE(num_applied, 200 * 3);
}

TEST(Replay, past_loads_are_matched_to_tasks_by_name_if_tasks_come_and_go) {
  Trace trace = trace_of({{1, 2}, {3}, {4, 5}});
  trace.phases[0].names = {{.id = 0}, {.id = 1}};
  trace.phases[1].names = {{.id = 1}};
  trace.phases[2].names = {{.id = 1}, {.id = 0}};
  const Replayer replayer(trace, flat_machine(2), Placement(2),
                          {.steps = 5, .every = 1, .beyond = Beyond::cycle});
  std::vector<std::vector<std::vector<double>>> seen;
  replayer.run([&](const Problem& problem) {
    seen.emplace_back(problem.past_loads_s.begin(), problem.past_loads_s.end());
    return TimedDecision{problem.current};
  });
  using Lists = std::vector<std::vector<double>>;
  EXPECT_THAT(seen, ElementsAre(Lists{}, Lists{{2}}, Lists{{2, 1}}, Lists{{1, 2}, {5, 4}}));
}

TEST(Replay, gathering_the_loads_of_more_places_takes_longer) {
  const auto collection_s = [](const char* machine) {
    Trace trace;
    trace.phases = {phase_of({1, 1, 1, 1})};
    const Replayer replayer(trace, machine_from_text(machine), Placement(4),
                            {.steps = 2, .events = EngineOptions{}});
    return replayer.run(deciding("keep")).collection_s;
  };
  EXPECT_EQ(collection_s("core:1"), 0);
  EXPECT_GT(collection_s("node:2 core:2"), 0);
  EXPECT_GT(collection_s("node:64 core:4"), 2 * collection_s("node:2 core:2"));
}

}  // namespace
}  // namespace poise
