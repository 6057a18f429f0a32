// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/replayed_run.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "poise/base/random.h"
#include "poise/diagnosis/example_testing.h"
#include "poise/simulate/threads.h"

namespace poise {
namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(replayed_run, replayed_messages_take_as_long_as_in_the_measured_run) {
  const Example example("node:2 core:2", {1, 1, 1, 1},
                        {{0, 2, 100, 1000000}, {2, 0, 100, 1000000}, {1, 3, 100, 2000}});
  const ReplayedRun replay(example.run, example.trace);
  ASSERT_TRUE(replay.is_possible());
  const double phases = replay.phases().size();
  for (const double exposed_s : {0.01, 1.0, 100.0}) {
    const double factor = replay.factor_for(example.loads_s(), exposed_s);
    EXPECT_NEAR(sum(replay.times_s(example.loads_s(), replay.own_places(), factor)),
                phases + exposed_s, 0.011 * exposed_s);
  }
  EXPECT_EQ(replay.factor_for(example.loads_s(), 0), 0);
}

TEST(replayed_run,
     messages_lengthen_phases_by_the_measured_time_even_if_most_messages_overlap_with_work) {
  const Example example("node:2 core:2", {10, 1, 1, 1},
                        {{0, 1, 1, 1000}, {1, 3, 1, 1000000}, {3, 1, 1, 1000000}});
  const ReplayedRun replay(example.run, example.trace);
  for (const double exposed_s : {0.01, 1.0, 100.0}) {
    const double factor = replay.factor_for(example.loads_s(), exposed_s);
    EXPECT_NEAR(sum(replay.times_s(example.loads_s(), replay.own_places(), factor)),
                10.0 * replay.phases().size() + exposed_s, 0.011 * exposed_s);
  }
}

TEST(replayed_run, the_cost_factor_for_messages_between_nodes_is_1_if_no_messages_cross_nodes) {
  const Example example("node:2 core:2", {1, 1, 1, 1}, {{0, 1, 1, 1000}, {2, 3, 1, 1000}});
  EXPECT_EQ(ReplayedRun(example.run, example.trace).factor_for(example.loads_s(), 1), 1);
}

TEST(replayed_run, a_slow_network_does_not_make_messages_inside_a_node_slower) {
  const Example example("node:2 core:2", {1, 1, 1, 1}, {{0, 2, 1, 1000000}, {1, 3, 1, 1000000}});
  const ReplayedRun replay(example.run, example.trace);
  const double factor = replay.factor_for(example.loads_s(), 80);
  const Placement near(std::vector<PlaceId>{0, 2, 1, 3});
  EXPECT_NEAR(sum(replay.times_s(example.loads_s(), near, factor)), replay.phases().size(), 0.1);
}

TEST(replayed_run, ranks_that_shared_a_core_by_chance_get_cores_of_their_own_on_the_same_node) {
  const Example example("node:2 core:3", {1, 1, 1, 1}, {}, {0, 0, 4, 4});
  const ReplayedRun replay(example.run, example.trace);
  EXPECT_EQ(replay.own_places(), Placement(std::vector<PlaceId>{0, 1, 4, 3}));
  const Example crowded("node:2 core:1", {1, 1, 1}, {}, {0, 0, 1});
  EXPECT_FALSE(ReplayedRun(crowded.run, crowded.trace).is_possible());
}

using testing::ElementsAre;

TEST(replayed_run, simulates_up_to_eight_evenly_spaced_phases_or_fewer_if_there_are_many_messages) {
  const auto phases_of = [](std::size_t phases, std::size_t messages) {
    Example example("core:2", {1, 1}, {});
    example.trace.phases.resize(phases);
    if (phases > 1) example.trace.phases[1].workload.messages.resize(messages);
    const ReplayedRun replay(example.run, example.trace);
    return std::vector<std::size_t>(replay.phases().begin(), replay.phases().end());
  };
  EXPECT_THAT(phases_of(1, 0), ElementsAre(0));
  EXPECT_THAT(phases_of(3, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(phases_of(8, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(phases_of(10, 0), ElementsAre(0, 1, 3, 4, 5, 6, 8, 9));
  EXPECT_THAT(phases_of(10, 20'000), ElementsAre(1, 3, 5, 7, 9));
  EXPECT_THAT(phases_of(10, 50'000), ElementsAre(2, 7));
  EXPECT_THAT(phases_of(10, 200'000), ElementsAre(2, 7));
}

TEST(replayed_run,
     the_number_of_iterations_of_a_phase_is_the_median_number_of_messages_per_pair_of_ranks) {
  const auto iterations = [](const std::vector<std::uint64_t>& counts) {
    std::vector<Message> messages;
    for (const std::uint64_t count : counts) messages.push_back({0, 1, count, 8});
    const Example example("core:2", {1, 1}, messages);
    return ReplayedRun(example.run, example.trace).iterations_of(3);
  };
  EXPECT_EQ(iterations({}), 1);
  EXPECT_EQ(iterations({0, 0}), 1);
  EXPECT_EQ(iterations({7}), 7);
  EXPECT_EQ(iterations({9, 0, 1, 5, 0, 30}), 9);
  EXPECT_EQ(iterations({9, 1, 5}), 5);
}

TEST(replayed_run,
     every_rank_gets_its_own_place_on_its_node_and_only_the_first_rank_of_a_shared_place_stays) {
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    const std::size_t cores = 1 + random.below(4);
    std::vector<PlaceId> places(1 + random.below(3 * cores));
    for (PlaceId& place : places) place = random.below(3 * cores);
    std::vector<std::size_t> on_node(3);
    for (const PlaceId place : places) ++on_node[place / cores];
    const Example example("node:3 core:" + std::to_string(cores),
                          std::vector<double>(places.size(), 1), {}, places);
    const ReplayedRun replay(example.run, example.trace);
    const bool has_room = *std::max_element(on_node.begin(), on_node.end()) <= cores;
    ASSERT_EQ(replay.is_possible(), has_room);
    if (!has_room) continue;
    const Placement own = replay.own_places();
    std::vector<int> ranks_at(3 * cores);
    for (TaskId r = 0; r < places.size(); ++r) {
      EXPECT_EQ(++ranks_at[own.of(r)], 1);
      EXPECT_EQ(own.of(r) / cores, places[r] / cores);
      const bool is_first =
          std::find(places.begin(), places.begin() + r, places[r]) == places.begin() + r;
      if (is_first) {
        EXPECT_EQ(own.of(r), places[r]);
      }
    }
  }
}

/// Replays a run that only sends messages, and returns the seconds that its phases take together.
/// `change` changes the cost model, and `factor` is the factor on the costs of messages.
double messages_s(const std::string& machine, const std::vector<Message>& messages,
                  const std::function<void(CostModel&)>& change, double factor) {
  Example example(machine, {0, 0, 0, 0}, messages);
  MachineParts parts = example.trace.machine->parts();
  change(parts.costs);
  example.trace.machine = Machine(std::move(parts));
  const ReplayedRun replay(example.run, example.trace);
  return sum(replay.times_s(example.loads_s(), replay.own_places(), factor));
}

TEST(replayed_run,
     the_cost_factor_scales_network_costs_or_on_a_single_node_the_costs_inside_the_node) {
  struct Case {
    const char* name;
    double CostModel::*cost;
    TransportCosts CostModel::*transport;
    double TransportCosts::*part;
    double value;
  };
  const std::vector<Case> network{
      {"send", nullptr, &CostModel::network, &TransportCosts::send_s, 1},
      {"receive", nullptr, &CostModel::network, &TransportCosts::receive_s, 1},
      {"copy", nullptr, &CostModel::network, &TransportCosts::copy_s_per_byte, 1},
      {"latency", nullptr, &CostModel::network, &TransportCosts::latency_s, 1},
      {"gap", &CostModel::card_s_per_message, nullptr, nullptr, 1},
      {"card", &CostModel::card_bytes_per_s, nullptr, nullptr, 1000},
      {"shared", &CostModel::shared_network_bytes_per_s, nullptr, nullptr, 1000}};
  const std::vector<Case> inside{
      {"send", nullptr, &CostModel::inside, &TransportCosts::send_s, 1},
      {"receive", nullptr, &CostModel::inside, &TransportCosts::receive_s, 1},
      {"copy", nullptr, &CostModel::inside, &TransportCosts::copy_s_per_byte, 1},
      {"latency", nullptr, &CostModel::inside, &TransportCosts::latency_s, 1},
      {"bus", &CostModel::bus_bytes_per_s, nullptr, nullptr, 1000}};
  const auto times = [](const Case& each, const std::string& machine, TaskId to, double factor) {
    // Two messages between the same ranks, so that the gap between messages has an effect.
    return messages_s(
        machine, {{0, to, 2, 2000}, {1, to, 2, 2000}, {0, 1, 4, 0}},
        [&](CostModel& costs) {
          (each.cost ? costs.*each.cost : costs.*each.transport.*each.part) = each.value;
        },
        factor);
  };
  for (const Case& each : network) {
    SCOPED_TRACE(each.name);
    EXPECT_NEAR(times(each, "node:2 core:2", 2, 3) / times(each, "node:2 core:2", 2, 1), 3, 0.03);
    EXPECT_LT(times(each, "node:2 core:2", 2, 0), 0.01);
  }
  for (const Case& each : inside) {
    SCOPED_TRACE(each.name);
    EXPECT_NEAR(times(each, "core:4", 2, 3) / times(each, "core:4", 2, 1), 3, 0.03);
    EXPECT_LT(times(each, "core:4", 2, 0), 0.01);
    const std::string two_nodes = "node:2 core:3";  // ranks 0 to 2 are on the same node
    EXPECT_NEAR(times(each, two_nodes, 2, 3), times(each, two_nodes, 2, 1), 0.01);
    EXPECT_GT(times(each, two_nodes, 2, 1), 1);
  }
}

TEST(replayed_run, each_iteration_sends_its_share_of_the_messages) {
  const auto only_sending = [](CostModel& costs) { costs.network = {.send_s = 1}; };
  for (const std::uint64_t count : {1, 5}) {
    const double time_s = messages_s("node:2 core:2", {{0, 2, count, 0}}, only_sending, 2);
    EXPECT_NEAR(time_s, 8 * 2.0 * count, 0.1 * count) << "eight phases are simulated";
  }
}

TEST(replayed_run, the_cost_factor_divides_the_bandwidth_of_the_uplinks_of_every_tier) {
  for (std::size_t tier = 0; tier < 2; ++tier) {
    const auto time_s = [&](double factor) {
      return messages_s(
          "rack:2 switch:2 node:1 core:1", {{0, 3, 1, 1000}, {1, 2, 1, 1000}},
          [&](CostModel& costs) {
            costs.uplink_bytes_per_s = {1e10, 1e10};
            costs.uplink_bytes_per_s[tier] = 1000;
          },
          factor);
    };
    EXPECT_NEAR(time_s(3) / time_s(1), 3, 0.03) << tier;
    EXPECT_GT(time_s(1), 1) << tier;
    EXPECT_LT(time_s(0), 0.01) << tier;
  }
}

TEST(replayed_run, the_cost_factor_is_1_if_ranks_send_messages_only_to_themselves) {
  const Example example("core:2", {1, 1}, {{0, 0, 1, 1000}, {1, 1, 5, 1000}});
  EXPECT_EQ(ReplayedRun(example.run, example.trace).factor_for(example.loads_s(), 1), 1);
}

TEST(replayed_run, the_cost_factor_is_0_if_messages_inside_nodes_already_take_too_long) {
  const Example example("node:2 core:2", {1, 1, 1, 1}, {{0, 1, 1, 1'000'000'000}, {0, 2, 1, 1}});
  const ReplayedRun replay(example.run, example.trace);
  EXPECT_EQ(replay.factor_for(example.loads_s(), 1e-3), 0);
}

TEST(replayed_run, juggle_balances_50_times_a_second_but_at_most_2000_times_in_an_iteration) {
  for (const double unit_s : {1.0, 7.0, 150.0}) {
    const std::vector<double> loads_s{unit_s, 0.9 * unit_s, 1.3 * unit_s, 0.4 * unit_s, unit_s};
    const Example example("core:2", loads_s, {{0, 1, 2, 0}, {0, 2, 2, 0}}, {0, 1, 0, 1, 0});
    Workload iteration;
    double all_s = 0;
    for (const double load_s : loads_s) {
      iteration.tasks.push_back({.load_s = load_s / 2});
      all_s += load_s / 2;
    }
    const auto done_s = run_threads(*example.trace.machine, iteration,
                                    example.trace.phases[0].placement, std::max(0.02, all_s / 2000))
                            .done_s;
    const std::vector<double> times_s = ReplayedRun(example.run, example.trace).juggled_times_s();
    EXPECT_EQ(times_s.size(), 8u);
    for (const double time_s : times_s)
      EXPECT_DOUBLE_EQ(time_s, 2 * *std::max_element(done_s.begin(), done_s.end()));
  }
}

TEST(replayed_run, juggle_is_predicted_to_save_time_only_in_long_iterations) {
  for (const auto& [messages, shortest_s, longest_s] :
       {std::tuple{1, 1.5, 1.53}, std::tuple{1000, 2.0, 2.0}}) {
    const Example example("core:2", {1, 1, 1}, {{0, 1, std::uint64_t(messages), 0}}, {0, 1, 0});
    const ReplayedRun replay(example.run, example.trace);
    for (const double time_s : replay.juggled_times_s()) {
      EXPECT_GE(time_s, shortest_s * (1 - 1e-9));
      EXPECT_LE(time_s, longest_s * (1 + 1e-9));
    }
  }
}

TEST(replayed_run,
     values_of_phases_that_are_not_simulated_are_assumed_proportional_to_their_estimates) {
  const std::vector<double> estimates{1, 2, 3, 4}, values{2, 6};
  const std::vector<std::size_t> simulated{0, 2};
  const Seconds sum = sum_over_run(values, simulated, estimates);
  EXPECT_DOUBLE_EQ(sum.value, 20);
  EXPECT_DOUBLE_EQ(sum.half_width, 0);
  EXPECT_EQ(sum_over_run(values, simulated, std::vector<double>{0, 1, 0, 1}).value, 0);
}

TEST(replayed_run, the_extrapolated_sum_is_uncertain_only_if_some_phases_are_not_simulated) {
  // The simulated phases have the values 2 and 7 and the estimates 1 and 3. The sum of the values
  // is 9/4 of the sum of the estimates. In proportion to their estimates, the values would be 9/4
  // and 27/4; they deviate from this by -1/4 and 1/4.
  const std::vector<double> values{2, 7};
  const std::vector<std::size_t> simulated{0, 2};
  const double half_width =
      sum_over_run(values, simulated, std::vector<double>{1, 2, 3, 4}).half_width;
  EXPECT_DOUBLE_EQ(half_width, 1.96 * 4 * std::sqrt((1 - 2.0 / 4) * (2.0 / 16) / (2 * (2 - 1))));
  const std::vector<std::size_t> all{0, 1};
  EXPECT_EQ(sum_over_run(values, all, std::vector<double>{1, 3}).half_width, 0);
  EXPECT_EQ(sum_over_run(values, all, std::vector<double>{1, 3}).value, 9);
}

}  // namespace
}  // namespace poise
