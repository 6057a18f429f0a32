// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/simulation.h"

#include <gmock/gmock.h>
#include <stdexcept>

#include "apps/report/simulate_page.h"

#include "poise/machine/text.h"

namespace poise::apps {
namespace {

using testing::HasSubstr;

Replayer four_tasks_on_one_place() {
  Trace trace;
  trace.phases.resize(1);
  trace.phases[0].workload.tasks.assign(4, {1, 1'000'000'000});
  return {trace, flat_machine(2), Placement(4), {.steps = 4, .every = 2}};
}

TEST(Simulation, charges_the_given_cost_for_each_decision) {
  const Replayer replayer = four_tasks_on_one_place();
  Simulation simulation = begin_simulation(replayer);
  add_row(simulation, replayer, contender_of(parse_strategy("greedy")), 0.25);
  EXPECT_EQ(simulation.rows[1].replay.total_s, 4 + 4 + 0.25 + 2 + 2 + 2);
  EXPECT_EQ(simulation.best, 1u);
  EXPECT_DOUBLE_EQ(efficiency(simulation, simulation.rows[0].replay), 0.5);
  EXPECT_EQ(step_times_s(simulation.rows[1].replay), (std::vector<double>{4, 4, 4.25, 2}));
}

TEST(Simulation, the_html_page_marks_decisions_and_says_how_many_tasks_each_decision_moved) {
  const Replayer replayer = four_tasks_on_one_place();
  Simulation simulation = begin_simulation(replayer);
  add_row(simulation, replayer, contender_of(parse_strategy("greedy")), 0.25);
  EXPECT_THAT(simulate_page(simulation, "four", {}, ""),
              HasSubstr("greedy, before step 2: 2 tasks moved; balancing took 2.250 s"));
}

TEST(Simulation, the_run_without_balancing_is_best_if_decisions_cost_more_than_they_gain) {
  const Replayer replayer = four_tasks_on_one_place();
  Simulation simulation = begin_simulation(replayer);
  add_row(simulation, replayer, contender_of(parse_strategy("greedy")), 10);
  EXPECT_EQ(simulation.best, 0u);
  EXPECT_THAT(simulate_page(simulation, "four", {}, ""), HasSubstr("No strategy earns its costs"));
}

TEST(Simulation, measures_the_time_of_decisions_if_no_cost_is_given) {
  const Replayer replayer = four_tasks_on_one_place();
  Simulation simulation = begin_simulation(replayer);
  add_row(simulation, replayer, contender_of(parse_strategy("greedy")), std::nullopt);
  EXPECT_GT(simulation.rows[1].replay.decision_s, 0);
}

TEST(Simulation, reports_why_a_strategy_failed) {
  const Replayer replayer = four_tasks_on_one_place();
  Simulation simulation = begin_simulation(replayer);
  Choice refusing = parse_strategy("keep");
  const Strategy strategy{.name = "refuses",
                          .summary = "",
                          .source = "",
                          .complexity = "",
                          .rebalance = [](const Problem&, const Knobs&) -> Placement {
                            throw std::runtime_error("not <here>");
                          }};
  refusing.strategy = &strategy;
  add_row(simulation, replayer, contender_of(refusing), 0.0);
  EXPECT_EQ(simulation.rows[1].error, "not <here>");
  EXPECT_EQ(simulation.best, 0u);
  EXPECT_THAT(simulate_page(simulation, "four", {}, ""), HasSubstr("not &lt;here&gt;"));
}

}  // namespace
}  // namespace poise::apps
