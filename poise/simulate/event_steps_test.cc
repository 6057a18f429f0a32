// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/event_steps.h"

#include <gmock/gmock.h>
#include <numeric>
#include <string>

#include "poise/base/enum_index.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

/// Places on nodes of their own: a message takes 1/8 s of CPU time at each end, 1/4 s of latency,
/// and 1 ms per byte.
Machine nodes(int count) {
  return machine_from_text("node:" + std::to_string(count) +
                           " core:1 factors:1,1 bandwidth:1000 bus:0 gap:0 copy:0 latency:0.25 "
                           "overhead:0.125 migrated_byte:1e-3 migrated_task:0.5");
}

Workload workload_of(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({load_s});
  return workload;
}

/// A span as numbers: its start, its end, and its activity.
std::vector<double> numbers_of(const std::vector<Span>& spans) {
  std::vector<double> numbers;
  for (const Span& span : spans) {
    if (span.end_s == span.start_s) continue;
    numbers.push_back(span.start_s);
    numbers.push_back(span.end_s);
    numbers.push_back(static_cast<double>(span.activity));
  }
  return numbers;
}

// Place 0 works for 3 s, sends three quarters of its message, works for 1 s, and sends the rest.
TEST(EventSteps,
     subphases_follow_each_other_and_each_has_its_part_of_the_work_and_of_the_messages) {
  const Machine machine = nodes(2);
  Workload workload = workload_of({4, 2});
  workload.subphase_load_s = {{3, 1}, {0.5, 1.5}};
  workload.subphase_rule = SubphaseRule::wait;
  workload.messages = {{0, 1, 1, 6000}};
  const Placement placement(std::vector<PlaceId>{0, 1});
  EventSteps steps(machine, {}, {{}, true}, 1);
  const EventStep& step = steps.step(0, workload, placement);
  // The loads sum to 3.5 s in the first subphase and to 2.5 s in the second, so 3.5/6 of the
  // message leaves in the first subphase and 2.5/6 in the second.
  const double first = 3.5 / 6, second = 2.5 / 6;
  const double sent1_s = 3 + first * 0.125, end1_s = sent1_s + 0.25 + first * 6 + first * 0.125;
  const double sent2_s = 1 + second * 0.125, end2_s = sent2_s + 0.25 + second * 6 + second * 0.125;
  const Iteration& all = step.iteration;
  EXPECT_NEAR(all.end_s, end1_s + end2_s, 1e-9);
  EXPECT_NEAR(all.places[0].worked_s, sent1_s + sent2_s, 1e-9);
  EXPECT_NEAR(all.places[0].ends_s, end1_s + sent2_s, 1e-9);
  EXPECT_NEAR(all.places[1].worked_s, 2, 1e-9);
  EXPECT_NEAR(all.places[1].receiving_s, 0.125, 1e-9);
  EXPECT_NEAR(all.places[1].ends_s, end1_s + end2_s, 1e-9);
  const double work = static_cast<double>(Activity::work),
               wait = static_cast<double>(Activity::wait);
  ASSERT_EQ(step.spans.size(), 2u);
  EXPECT_THAT(
      numbers_of(step.spans[0]),
      Pointwise(DoubleNear(1e-9), {0.0, 3.0, work, 3.0, sent1_s, wait, sent1_s, end1_s, wait,
                                   end1_s, end1_s + 1, work, end1_s + 1, end1_s + sent2_s, wait,
                                   end1_s + sent2_s, end1_s + end2_s, wait}));
  EXPECT_THAT(numbers_of(step.spans[1]),
              Pointwise(DoubleNear(1e-9), {0.0, 0.5, work, 0.5, end1_s, wait, end1_s, end1_s + 1.5,
                                           work, end1_s + 1.5, end1_s + end2_s, wait}));
  EventSteps silent(machine, {}, {}, 1);
  EXPECT_TRUE(silent.step(0, workload, placement).spans.empty());
}

TEST(EventSteps,
     of_overlapping_subphases_the_longest_one_counts_and_the_first_one_has_all_messages) {
  const Machine machine = nodes(2);
  Workload workload = workload_of({6, 0});
  workload.subphase_rule = SubphaseRule::overlap;
  workload.messages = {{0, 1, 1, 2000}};
  for (const auto& [loads_s, end_s] :
       {std::pair{std::vector<double>{1, 5}, 5.0}, {{2, 4}, 2 + 2.5}, {{1, 2, 3}, 1 + 2.5}}) {
    workload.subphase_load_s = {loads_s, {}};
    EventSteps steps(machine, {}, {}, 1);
    const Iteration iteration =
        steps.step(0, workload, Placement(std::vector<PlaceId>{0, 1})).iteration;
    EXPECT_NEAR(iteration.end_s, end_s, 1e-9);
    EXPECT_NEAR(iteration.places[0].sends_s, loads_s[0], 1e-9);
  }
}

TEST(EventSteps,
     steps_with_subphases_and_a_single_message_take_the_time_that_the_formula_predicts) {
  const Machine machine = with_formula(
      machine_from_text(
          "node:2 core:1 factors:1,1 bandwidth:1000 bus:0 gap:0 copy:0 latency:0.25 overhead:0"),
      CostFormula::physical);
  const Placement apart(std::vector<PlaceId>{0, 1});
  for (const SubphaseRule rule : {SubphaseRule::wait, SubphaseRule::overlap})
    for (const double overlap : {0.0, 1.0})
      for (const auto& row : {std::vector<double>{0, 4}, {2, 2}, {2, 12}, {12, 2}, {1, 2, 3}}) {
        SCOPED_TRACE(testing::Message() << index_of(rule) << " " << overlap << " " << row[0]);
        const double load_s = std::accumulate(row.begin(), row.end(), 0.0);
        Workload workload = workload_of({load_s, load_s});
        workload.subphase_load_s = {row, row};
        workload.subphase_rule = rule;
        workload.overlap = overlap;
        workload.messages = {{0, 1, 1, 10000}};
        EventSteps steps(machine, {}, {}, 1);
        const double formula_s =
            evaluate(machine, workload, machine.costs(), apart, apart).iteration_s;
        EXPECT_NEAR(steps.step(0, workload, apart).iteration.end_s, formula_s, 1e-9);
      }
}

TEST(EventSteps, changed_loads_take_effect_only_after_the_stored_steps_are_forgotten) {
  const Machine machine = nodes(2);
  EventSteps steps(machine, {}, {}, 2);
  Workload workload = workload_of({1, 1});
  workload.messages = {{0, 1, 1, 1000}};
  const Placement apart(std::vector<PlaceId>{0, 1}), together(std::vector<PlaceId>{1, 1});
  const auto end_s = [&](std::size_t phase, const Placement& placement) {
    return steps.step(phase, workload, placement).iteration.end_s;
  };
  EXPECT_DOUBLE_EQ(end_s(0, apart), 1 + 1.5);
  EXPECT_DOUBLE_EQ(end_s(1, together), 2);
  workload.tasks[0].load_s = 3;
  EXPECT_DOUBLE_EQ(end_s(0, apart), 1 + 1.5) << "it is kept";
  steps.forget_loads();
  EXPECT_DOUBLE_EQ(end_s(0, apart), 3 + 1.5);
  EXPECT_DOUBLE_EQ(end_s(1, together), 4);
  steps.forget();
  EXPECT_DOUBLE_EQ(end_s(0, together), 4);
  EXPECT_DOUBLE_EQ(end_s(1, apart), 3 + 1.5);
}

TEST(EventSteps, a_step_may_end_with_a_barrier) {
  const Machine machine = nodes(2);
  EventSteps steps(machine, {.has_barrier = true}, {}, 1);
  const EventStep& step = steps.step(0, workload_of({1, 4}), Placement(std::vector<PlaceId>{0, 1}));
  EXPECT_DOUBLE_EQ(step.iteration.end_s, 4 + 0.125 + 0.25 + 0.125);
  EXPECT_DOUBLE_EQ(step.iteration.places[1].ends_s, 4);
}

TEST(EventSteps, tasks_that_move_are_packed_and_sent_and_unpacked) {
  const Machine machine = nodes(3);
  Workload workload = workload_of({1, 1, 1});
  for (Task& task : workload.tasks) task.bytes = 1000;
  const EventSteps steps(machine, {}, {}, 1);
  // Packing a task takes 0.5 + 1 s, as does unpacking it. Both tasks leave together.
  EXPECT_NEAR(steps.migration_s(workload, Placement({0, 0, 1}), Placement({2, 2, 1})),
              2 * 1.5 + 0.25 + 2 + 2 * 1.5, 1e-9);
  EXPECT_EQ(steps.migration_s(workload, Placement({0, 0, 1}), Placement({0, 0, 1})), 0);
}

// Places report 24 bytes per task and per message, and get 4 bytes per task.
TEST(EventSteps, measurements_travel_to_place_0_and_the_new_placement_travels_back) {
  const Machine machine = nodes(4);
  Workload workload = workload_of(std::vector<double>(10, 1));
  const Placement placement({0, 0, 0, 0, 1, 2, 2, 3, 3, 3});
  workload.messages = {{5, 0, 1, 99}};  // a task of place 2 sends it
  const EventSteps steps(machine, {}, {}, 1);
  // Places 1, 2 and 3 send reports of 24, 72 and 72 bytes. From 0.375 s on, the reports share the
  // network card of place 0. Place 0 receives the reports one after the other, and then sends 4, 8
  // and 12 bytes to places 1, 2 and 3.
  const double up_s = 0.375 + 3 * 0.024 + 3 * 0.125;
  const double down_s = 3 * 0.125 + 0.25 + 0.012 + 0.125;
  EXPECT_NEAR(steps.collection_s(workload, placement), up_s + down_s, 1e-9);
}

// The places of a node send their measurements to its first place, which passes on all of them.
TEST(EventSteps, measurements_travel_through_the_levels_of_the_machine) {
  const Machine machine = machine_from_text(
      "node:2 core:2 factors:4,1 bandwidth:1000 bus:0 gap:0 copy:0 latency:0.25 overhead:0.125");
  const Workload workload = workload_of({1, 1, 1, 1, 1, 1});
  const Placement placement({0, 1, 2, 3, 3, 3});
  const EventSteps steps(machine, {}, {}, 1);
  const double inside_s = 0.125 + 0.25 + 0.125, ends_s = 0.125 + 4 * 0.25 + 0.125;
  const double up_s = inside_s + ends_s + 4 * 0.024, down_s = inside_s + ends_s + 4 * 0.004;
  EXPECT_NEAR(steps.collection_s(workload, placement), up_s + down_s, 1e-9);
}

}  // namespace
}  // namespace poise
