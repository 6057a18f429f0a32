// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/subphases.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

Workload divided(std::vector<std::vector<double>> rows, const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({.load_s = load_s});
  workload.subphase_load_s = std::move(rows);
  workload.subphase_rule = SubphaseRule::wait;
  return workload;
}

TEST(Subphases, there_is_only_one_subphase_if_loads_per_subphase_are_unknown) {
  for (const auto& rows : {std::vector<std::vector<double>>{},
                           {{3}, {1}},
                           {{0, 0}, {0, 0}},
                           {std::vector<double>(kMaxSubphases + 1, 1), {}}}) {
    const Workload workload = divided(rows, {3, 1});
    const Subphases subphases(workload);
    ASSERT_EQ(subphases.count(), 1u);
    EXPECT_EQ(subphases.part(0), 1);
    EXPECT_EQ(subphases.load_s(0, 0), 3);
  }
}

TEST(Subphases, there_is_only_one_subphase_if_places_do_not_wait_for_each_other) {
  Workload workload = divided({{1, 0}, {0, 1}}, {1, 1});
  workload.subphase_rule = SubphaseRule::no_wait;
  EXPECT_EQ(Subphases(workload).count(), 1u);
}

TEST(Subphases, the_loads_of_a_task_per_subphase_are_scaled_so_that_they_add_up_to_its_total_load) {
  const Workload workload = divided({{1, 3}, {2}, {}, {0, 0}}, {8, 4, 6, 3});
  const Subphases subphases(workload);
  ASSERT_EQ(subphases.count(), 2u);
  EXPECT_EQ(subphases.load_s(0, 0), 2);
  EXPECT_EQ(subphases.load_s(0, 1), 6);
  EXPECT_EQ(subphases.load_s(1, 0), 4);
  EXPECT_EQ(subphases.load_s(1, 1), 0);
  // Tasks 0 and 1 together have 6 s in each of the two subphases, so the loads of tasks without
  // loads per subphase are divided in half.
  EXPECT_EQ(subphases.part(0), 0.5);
  EXPECT_EQ(subphases.load_s(2, 1), 3);
  EXPECT_EQ(subphases.load_s(3, 0), 1.5);
}

TEST(Subphases, loads_per_subphase_whose_sum_overflows_are_ignored) {
  const Workload workload = divided({{1e308, 1e308}, {1, 1e-320}}, {1, 2});
  const Subphases subphases(workload);
  ASSERT_EQ(subphases.count(), 2u);
  EXPECT_EQ(subphases.load_s(0, 0), 1);  // divided like the loads of the other tasks
  EXPECT_EQ(subphases.load_s(1, 0), 2);
}

TEST(Subphases, the_makespan_adds_up_the_time_of_the_busiest_place_in_each_subphase) {
  // Places 0 and 1 work for 10 s each, place 0 in the first subphase and place 1 in the second.
  // Place 2 has half of their speed and works for 10 s in each subphase.
  Workload workload = divided({{10, 0}, {0, 10}, {5, 5}}, {10, 10, 10});
  const Machine machine = machine_from_text("core:3 speeds:1,1,0.5 message:1");
  const Placement apart(std::vector<PlaceId>{0, 1, 2});
  const auto metrics = [&] { return evaluate(machine, workload, machine.costs(), apart, apart); };
  EXPECT_EQ(metrics().makespan_s, 20);
  EXPECT_EQ(metrics().iteration_s, 20);
  workload.background_s = {2, 0, 0};  // one second in each subphase
  EXPECT_EQ(metrics().makespan_s, 21);
  workload.messages = {{1, 2, 4, 0}};  // two seconds in each subphase
  EXPECT_EQ(metrics().makespan_s, 21);
  EXPECT_EQ(metrics().iteration_s, 24);
  workload.subphase_load_s.clear();
  EXPECT_EQ(metrics().makespan_s, 20);
  EXPECT_EQ(metrics().iteration_s, 24);
}

/// Two nodes, between which 1000 bytes take a second and a latency a quarter of a second.
Machine two_nodes() {
  return with_formula(
      machine_from_text(
          "node:2 core:1 factors:1,1 bandwidth:1000 bus:0 gap:0 copy:0 latency:0.25 overhead:0"),
      CostFormula::physical);
}

TEST(Subphases, gpu_work_does_not_hide_the_messages_of_the_cores) {
  // A message occupies the cards for 10 s and has a latency of 0.25 s.
  const Machine machine = two_nodes();
  const Placement apart(std::vector<PlaceId>{0, 1});
  for (const auto& [cores_s, gpus_s, overlap, iteration_s] : {std::tuple{0.0, 4.0, 0.0, 10.25},
                                                              {0.0, 4.0, 1.0, 10.25},
                                                              {4.0, 4.0, 0.0, 14.25},
                                                              {4.0, 4.0, 0.5, 10.25},
                                                              {4.0, 4.0, 1.0, 10.25},
                                                              {8.0, 4.0, 0.5, 13.125},
                                                              {12.0, 4.0, 1.0, 12.0},
                                                              {0.0, 11.0, 1.0, 11.0}}) {
    SCOPED_TRACE(testing::Message() << cores_s << " s, " << gpus_s << " s, overlap " << overlap);
    const std::vector<double> row{cores_s, gpus_s};
    Workload workload = divided({row, row}, {cores_s + gpus_s, cores_s + gpus_s});
    workload.subphase_rule = SubphaseRule::overlap;
    workload.overlap = overlap;
    workload.messages = {{0, 1, 1, 10000}};
    const Metrics metrics = evaluate(machine, workload, machine.costs(), apart, apart);
    EXPECT_DOUBLE_EQ(metrics.iteration_s, iteration_s);
    EXPECT_DOUBLE_EQ(metrics.makespan_s, std::max(cores_s, gpus_s));
    EXPECT_DOUBLE_EQ(metrics.max_comm_s, std::max(10.25 - cores_s, (1 - overlap) * 10.25));
  }
}

TEST(Subphases, each_subphase_hides_only_its_own_messages_and_takes_a_latency_of_its_own) {
  // Place 0 works in the first subphase, place 1 in the second. In each subphase half of the
  // message occupies the cards, for 5 s.
  const Machine machine = two_nodes();
  Workload workload = divided({{4, 0}, {0, 4}}, {4, 4});
  workload.messages = {{0, 1, 1, 10000}};
  const Placement apart(std::vector<PlaceId>{0, 1});
  for (const auto& [overlap, first_s, second_s] :
       {std::tuple{0.0, 9.0, 9.25}, {0.5, 6.5, 6.625}, {1.0, 5.25, 5.25}}) {
    SCOPED_TRACE(overlap);
    workload.overlap = overlap;
    const PlaceTimes times = place_times(machine, workload, machine.costs(), apart);
    EXPECT_DOUBLE_EQ(phase_times(workload, times).iteration_s, first_s + second_s);
  }
  workload.overlap = 0;
  workload.subphase_load_s = {{4, 0}, {4, 0}};  // no message belongs to the second subphase
  const Metrics metrics = evaluate(machine, workload, machine.costs(), apart, apart);
  EXPECT_DOUBLE_EQ(metrics.iteration_s, 14.25);
}

TEST(Subphases, waiting_after_each_subphase_never_shortens_the_makespan) {
  const Machine machine = machine_from_text("core:4 speeds:1,0.5,1,2");
  Random random(5);
  for (int draw = 0; draw < 50; ++draw) {
    std::vector<std::vector<double>> rows(12);
    std::vector<double> loads_s;
    Placement placement(12);
    for (TaskId t = 0; t < 12; ++t) {
      for (int s = 0; s < 5; ++s) rows[t].push_back(random.uniform());
      loads_s.push_back(random.uniform());
      placement.move(t, static_cast<PlaceId>(random.below(4)));
    }
    const Workload workload = divided(rows, loads_s);
    const std::vector<double> whole_s = work_s(machine, workload, placement);
    const Metrics metrics = evaluate(machine, workload, machine.costs(), placement, placement);
    const double makespan_s = *std::max_element(whole_s.begin(), whole_s.end());
    EXPECT_GE(metrics.makespan_s, makespan_s * (1 - 1e-12));
    EXPECT_LE(metrics.makespan_s, 5 * makespan_s);
  }
}

TEST(Subphases, throws_for_invalid_loads_per_subphase) {
  Workload workload = divided({{1, -1}}, {1});
  EXPECT_THROW(check(workload, 2), Error);
  workload.subphase_load_s = {{1, 1}, {1, 1}};
  EXPECT_THROW(check(workload, 2), Error);
  workload.subphase_load_s = {{1, 1}};
  EXPECT_NO_THROW(check(workload, 2));
}

TEST(Subphases, a_workload_may_have_up_to_64_subphases_and_needs_a_row_for_each_task) {
  const Workload most = divided({std::vector<double>(kMaxSubphases, 1), {}}, {3, 1});
  EXPECT_EQ(Subphases(most).count(), kMaxSubphases);
  EXPECT_DOUBLE_EQ(Subphases(most).load_s(0, 63), 3.0 / 64);
  EXPECT_EQ(Subphases(divided({{1, 1}}, {3, 1})).count(), 1u);
  EXPECT_EQ(Subphases(divided({{1}, {1, 2}}, {3, 1})).count(), 2u);
}

TEST(Subphases,
     a_task_without_a_row_divides_its_load_among_subphases_in_proportion_to_the_sum_of_all_rows) {
  // The tasks with rows have loads of 5 s (1 s + 4 s) in the first subphase, 2 s in the second and
  // 3 s in the third.
  const Workload workload = divided({{}, {2, 4, 6}, {3}, {0, 0, 0}}, {20, 6, 4, 5});
  const Subphases subphases(workload);
  ASSERT_EQ(subphases.count(), 3u);
  const double parts[] = {0.5, 0.2, 0.3};
  for (std::uint32_t s = 0; s < 3; ++s) {
    EXPECT_DOUBLE_EQ(subphases.part(s), parts[s]);
    EXPECT_DOUBLE_EQ(subphases.part_of_rest(s), parts[s]);
    EXPECT_DOUBLE_EQ(subphases.load_s(0, s), 20 * parts[s]);
    EXPECT_DOUBLE_EQ(subphases.load_s(1, s), s + 1);
    EXPECT_DOUBLE_EQ(subphases.load_s(2, s), s == 0 ? 4 : 0);
    EXPECT_DOUBLE_EQ(subphases.load_s(3, s), 5 * parts[s]);
  }
}

TEST(Subphases,
     if_subphases_overlap_the_longest_counts_and_messages_and_background_load_belong_to_the_first) {
  Workload workload = divided({{1, 3}, {2, 2}}, {4, 4});
  const std::vector<double> seconds{2, 5, 3};
  EXPECT_EQ(Subphases(workload).time_of_all_s(seconds), 10);
  EXPECT_FALSE(Subphases(workload).overlap());
  workload.subphase_rule = SubphaseRule::overlap;
  const Subphases subphases(workload);
  EXPECT_TRUE(subphases.overlap());
  EXPECT_EQ(subphases.time_of_all_s(seconds), 5);
  EXPECT_EQ(subphases.part_of_rest(0), 1);
  EXPECT_EQ(subphases.part_of_rest(1), 0);
}

TEST(Subphases, a_place_may_have_a_speed_for_each_subphase) {
  const Machine machine = machine_from_text("core:3 speeds:1,0.5,2");
  Workload workload = divided({{1, 3}}, {4});
  EXPECT_EQ(Subphases(workload).speed_of(machine, 1, 1), 0.5);
  workload.subphase_speed = {1, 2, 3, 4, 5, 6};
  for (PlaceId p = 0; p < 3; ++p)
    for (std::uint32_t s = 0; s < 2; ++s)
      EXPECT_EQ(Subphases(workload).speed_of(machine, p, s), 2 * p + s + 1);
  workload.subphase_rule = SubphaseRule::no_wait;
  EXPECT_EQ(Subphases(workload).speed_of(machine, 2, 0), 2);
}

}  // namespace
}  // namespace poise
