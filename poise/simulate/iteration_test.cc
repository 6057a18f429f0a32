// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/iteration.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <string>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

// One place per node, 1,000 bytes/s in each direction, 1/8 s for sending and for receiving a
// message, and 1/4 s of latency.
constexpr const char* kNodes =
    "node:8 core:1 factors:1,1 bandwidth:1000 bus:0 gap:0 copy:0 latency:0.25 overhead:0.125";

constexpr EngineOptions kFluid{.eager_bytes = 1'000'000};
constexpr EngineOptions kQueue{.sharing = Sharing::queue, .eager_bytes = 1'000'000};

/// Simulates an iteration with one task per place: task t is on place t.
Iteration simulated(const char* machine_text, const std::vector<double>& work_s,
                    const std::vector<Message>& messages, const EngineOptions& options = kFluid,
                    double overlap = 0, std::uint64_t piece_bytes = 4096) {
  const Machine machine = machine_from_text(machine_text);
  Workload workload;
  std::vector<PlaceId> places;
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    workload.tasks.push_back({p < work_s.size() ? work_s[p] : 0});
    places.push_back(p);
  }
  workload.messages = messages;
  const Placement placement(places);
  const Traffic traffic =
      message_traffic(machine, workload, machine.costs(), placement, piece_bytes);
  return simulate_iteration(traffic, poise::work_s(machine, workload, placement), overlap, options);
}

TEST(Iteration, an_iteration_without_messages_takes_as_long_as_the_busiest_place_works) {
  const Iteration iteration = simulated(kNodes, {1, 3, 2}, {});
  EXPECT_EQ(iteration.end_s, 3);
  EXPECT_DOUBLE_EQ(iteration.idle_share(), 1 - 6.0 / (8 * 3));
}

TEST(Iteration, a_message_takes_time_at_both_ends_plus_latency_plus_transfer) {
  for (const EngineOptions& options : {kFluid, kQueue}) {
    const Iteration iteration = simulated(kNodes, {1}, {{0, 1, 1, 2000}}, options);
    // A message of one piece passes the network cards of the sender and of the receiver, in 2 s
    // each: at the same time with Sharing::fluid, one after the other with Sharing::queue.
    const double link_s = options.sharing == Sharing::fluid ? 2 : 4;
    EXPECT_DOUBLE_EQ(simulated(kNodes, {1}, {{0, 1, 1, 2000}}, options).end_s,
                     1 + 0.125 + 0.25 + link_s + 0.125);
    EXPECT_DOUBLE_EQ(iteration.places[0].ends_s, 1.125);
    EXPECT_DOUBLE_EQ(iteration.places[1].receiving_s, 0.125);
  }
}

TEST(Iteration, messages_that_leave_the_same_node_share_the_bandwidth_of_its_network_card) {
  const char* machine = "node:4 core:2 factors:1,1 bandwidth:1000 bus:0 gap:0 latency:0 overhead:0";
  EXPECT_DOUBLE_EQ(simulated(machine, {}, {{0, 2, 1, 1000}, {1, 4, 1, 3000}}).end_s, 4);
  const Iteration iteration = simulated(machine, {}, {{0, 2, 1, 1000}, {1, 4, 1, 3000}});
  EXPECT_DOUBLE_EQ(iteration.places[2].ends_s, 2);
  // A message that leaves a node and one that enters it do not share the bandwidth of the node's
  // network card.
  EXPECT_DOUBLE_EQ(simulated(machine, {}, {{0, 2, 1, 1000}, {4, 1, 1, 3000}}).end_s, 3);
}

TEST(Iteration, the_hub_of_a_star_receives_one_message_after_the_other) {
  std::vector<Message> messages;
  for (TaskId t = 1; t < 8; ++t) messages.push_back({t, 0, 1, 1000});
  // The seven messages share the hub's network card, so all of them have passed it after 7 s. Then
  // the hub receives one after the other, in 1/8 s each.
  EXPECT_DOUBLE_EQ(simulated(kNodes, {}, messages).end_s, 0.125 + 0.25 + 7 + 7 * 0.125);
}

TEST(Iteration, a_sender_slower_than_its_network_card_never_waits_for_the_card) {
  std::vector<Message> messages;
  for (TaskId t = 1; t < 8; ++t)
    messages.push_back({0, t, 1, 100});  // each takes 0.1 s on the
                                         // card
  for (const EngineOptions& options : {kFluid, kQueue}) {
    const double link_s = options.sharing == Sharing::fluid ? 0.1 : 0.2;
    EXPECT_DOUBLE_EQ(simulated(kNodes, {1}, messages, options).end_s,
                     1 + 7 * 0.125 + 0.25 + link_s + 0.125);
  }
}

TEST(Iteration, all_links_of_a_ring_transfer_at_the_same_time) {
  std::vector<Message> messages;
  for (TaskId t = 0; t < 8; ++t) messages.push_back({t, (t + 1) % 8, 4, 2000});
  EXPECT_DOUBLE_EQ(simulated(kNodes, std::vector<double>(8, 1), messages).end_s,
                   1 + 4 * 0.125 + 0.25 + 2 + 4 * 0.125);
}

TEST(Iteration, pieces_of_a_message_form_a_pipeline_if_resources_are_queues) {
  // A network card takes 0.1 s for each of the 20 pieces of the message. The receiver's card
  // finishes one piece later than the sender's: after 2.1 s.
  EXPECT_DOUBLE_EQ(simulated(kNodes, {}, {{0, 1, 1, 2000}}, kQueue, 0, 100).end_s,
                   0.125 + 0.25 + 2.1 + 0.125);
}

TEST(Iteration, messages_are_served_in_order_of_arrival_if_resources_are_queues) {
  const char* machine = "node:4 core:2 factors:1,1 bandwidth:1000 bus:0 gap:0 latency:0 overhead:0";
  const Iteration iteration =
      simulated(machine, {0.5}, {{0, 2, 100, 1000}, {1, 4, 100, 3000}}, kQueue);
  EXPECT_DOUBLE_EQ(iteration.places[4].ends_s, 3.03);
  EXPECT_DOUBLE_EQ(iteration.places[2].ends_s, 4.01);
}

TEST(Iteration, large_messages_wait_until_the_receiver_asks_for_them) {
  const EngineOptions options{.eager_bytes = 1000};
  // An eager message waits at the receiver, which works until 5 s.
  EXPECT_DOUBLE_EQ(simulated(kNodes, {1, 5}, {{0, 1, 1, 1000}}, options).end_s, 5 + 0.125);
  EXPECT_DOUBLE_EQ(simulated(kNodes, {1, 5}, {{0, 1, 3, 3000}}, options).end_s, 5 + 3 * 0.125);
  // With rendezvous, the receiver answers the request at 5 s. The message starts when the answer
  // has arrived, one latency later, and takes another latency itself.
  EXPECT_DOUBLE_EQ(simulated(kNodes, {1, 5}, {{0, 1, 1, 1001}}, options).end_s,
                   5 + 2 * 0.25 + 1.001 + 0.125);
  // If the receiver is ready first, the request, the answer and the message follow each other.
  EXPECT_DOUBLE_EQ(simulated(kNodes, {1, 0}, {{0, 1, 1, 1001}}, options).end_s,
                   1 + 0.125 + 3 * 0.25 + 1.001 + 0.125);
}

TEST(Iteration, work_hides_message_time_if_computation_and_communication_overlap) {
  const std::vector<double> work_s(8, 10);
  const std::vector<Message> messages{{0, 1, 1, 2000}};
  const double message_s = 0.125 + 0.25 + 2 + 0.125;
  EXPECT_DOUBLE_EQ(simulated(kNodes, work_s, messages, kFluid, 0).end_s, 10 + message_s);
  EXPECT_DOUBLE_EQ(simulated(kNodes, work_s, messages, kFluid, 1).end_s, 10 + 0.125);
  EXPECT_DOUBLE_EQ(simulated(kNodes, work_s, messages, kFluid, 0.1).end_s, 9 + message_s);
}

TEST(Iteration, a_place_sends_after_the_first_part_of_its_work_and_receives_after_the_last_part) {
  // Place 0 sends one message to place 1 and then two to place 2.
  const Iteration iteration =
      simulated(kNodes, {2, 1, 4}, {{0, 2, 2, 500}, {0, 1, 1, 1000}}, kFluid, 0.25);
  ASSERT_EQ(iteration.places.size(), 8u);
  const PlaceRun& sender = iteration.places[0];
  EXPECT_DOUBLE_EQ(sender.sends_s, 1.5);
  EXPECT_DOUBLE_EQ(sender.sent_s, 1.5 + 3 * 0.125);
  EXPECT_DOUBLE_EQ(sender.worked_s, 1.5 + 3 * 0.125 + 0.5);
  EXPECT_DOUBLE_EQ(sender.ends_s, sender.worked_s);
  EXPECT_EQ(sender.receiving_s, 0);
  // The first message is alone on the card from 1.875 s to 2.125 s.
  EXPECT_DOUBLE_EQ(iteration.places[1].worked_s, 1);
  EXPECT_DOUBLE_EQ(iteration.places[1].ends_s, 3.375 + 0.125);
  EXPECT_DOUBLE_EQ(iteration.places[1].busy_s(), 1.125);
  EXPECT_DOUBLE_EQ(iteration.places[2].ends_s, 4 + 0.25) << "it works until 4 s";
  EXPECT_DOUBLE_EQ(iteration.places[2].receiving_s, 0.25);
  EXPECT_DOUBLE_EQ(iteration.end_s, 4.25);
  EXPECT_DOUBLE_EQ(iteration.idle_share(), 1 - (2.375 + 1.125 + 4.25) / (8 * 4.25));
}

TEST(Iteration, a_place_receives_its_messages_one_after_the_other_in_the_order_of_arrival) {
  // The messages arrive after 0.5, 2 and 4 s.
  const char* machine =
      "node:4 core:1 factors:1,1 bandwidth:1000 bus:0 gap:0 copy:0 latency:0.25 "
      "overhead:0.125";
  const Iteration iteration =
      simulated(machine, {0.25, 3.375, 1.375, 0}, {{1, 0, 1, 250}, {2, 0, 2, 125}, {3, 0, 1, 125}});
  EXPECT_DOUBLE_EQ(iteration.places[0].receiving_s, 0.5);
  EXPECT_DOUBLE_EQ(iteration.places[0].ends_s, 4 + 0.125);
  EXPECT_DOUBLE_EQ(iteration.end_s, 4.125);
}

TEST(Iteration, the_handshake_of_a_large_message_takes_the_chosen_number_of_network_latencies) {
  for (const double latencies : {0.0, 2.0, 5.0}) {
    const EngineOptions options{.eager_bytes = 999, .handshake_latencies = latencies};
    EXPECT_DOUBLE_EQ(simulated(kNodes, {1, 0}, {{0, 1, 1, 1000}}, options).end_s,
                     1 + 0.125 + latencies * 0.25 + 0.25 + 1 + 0.125);
    EXPECT_DOUBLE_EQ(simulated(kNodes, {1, 9}, {{0, 1, 1, 1000}}, options).end_s,
                     9 + latencies / 2 * 0.25 + 0.25 + 1 + 0.125);
  }
}

TEST(Iteration, in_large_exchanges_nearly_simultaneous_events_count_as_simultaneous) {
  for (const std::uint32_t nodes : {20u, 30u}) {
    const Machine machine = machine_from_text("node:" + std::to_string(nodes) +
                                              " core:1 factors:1,1 bandwidth:1000 bus:0 gap:0");
    std::vector<Transfer> transfers;
    for (PlaceId from = 0; from < nodes; ++from)
      for (PlaceId to = 0; to < nodes; ++to)
        if (from != to) transfers.push_back({from, to, 1, 100});
    const Traffic traffic(machine, machine.costs(), transfers,
                          [](const Transfer&) { return EndTimes(); });
    const std::vector<double> work_s(nodes, 0);
    const double busiest_s = (nodes - 1) * 0.1;
    EXPECT_NEAR(traffic.busiest_s(), busiest_s, 1e-9);
    // With 30 nodes there are 870 messages, each of which passes two network cards: 1740 stops
    // (resources on routes). All stops are visited at each of the 1740 starts and ends of messages.
    // These are 3 million visits, more than kMaxExactVisits.
    EXPECT_NEAR(simulate_iteration(traffic, work_s, 0).window_s, nodes == 30 ? busiest_s / 200 : 0,
                1e-9);
    EXPECT_NEAR(simulate_iteration(traffic, work_s, 0, {.precision = 0.25}).window_s, busiest_s / 4,
                1e-9);
    EXPECT_EQ(simulate_iteration(traffic, work_s, 0, {.sharing = Sharing::queue}).window_s, 0);
  }
}

TEST(Iteration, messages_inside_a_memory_domain_share_the_bandwidth_of_its_memory_bus) {
  const char* machine = "node:1 core:4 factors:1,1 bus:1000 latency:0 overhead:0 copy:0";
  EXPECT_DOUBLE_EQ(simulated(machine, {}, {{0, 1, 1, 500}}).end_s, 4 * 0.5);
  EXPECT_DOUBLE_EQ(simulated(machine, {}, {{0, 1, 1, 500}, {2, 3, 1, 500}}).end_s, 2 * 4 * 0.5);
}

TEST(Iteration, all_nodes_share_the_bandwidth_of_a_network_without_a_switch) {
  const char* machine =
      "node:8 core:1 factors:1,1 shared_network:1000 bandwidth:0 bus:0 gap:0 latency:0 overhead:0";
  std::vector<Message> messages;
  for (TaskId t = 0; t < 8; ++t) messages.push_back({t, (t + 1) % 8, 1, 500});
  EXPECT_DOUBLE_EQ(simulated(machine, {}, messages).end_s, 4);
}

TEST(Iteration, after_each_message_a_network_card_pauses_for_the_duration_of_the_gap) {
  const char* machine =
      "node:2 core:1 factors:1,1 bandwidth:1000 gap:0.5 bus:0 copy:0 latency:0 overhead:0";
  EXPECT_DOUBLE_EQ(simulated(machine, {}, {{0, 1, 6, 0}}).end_s, 3);
  EXPECT_DOUBLE_EQ(simulated(machine, {}, {{0, 1, 6, 600}}).end_s, 3.6);
}

TEST(Iteration, the_uplink_of_a_rack_limits_its_outgoing_messages) {
  const char* machine =
      "rack:2 node:2 core:1 factors:1,1,1 uplink:500 bandwidth:1000 bus:0 gap:0 latency:0 "
      "overhead:0";
  EXPECT_DOUBLE_EQ(simulated(machine, {}, {{0, 1, 1, 1000}}).end_s, 1);
  EXPECT_DOUBLE_EQ(simulated(machine, {}, {{0, 2, 1, 1000}, {1, 3, 1, 1000}}).end_s, 4);
}

TEST(Iteration, tasks_on_the_same_place_cause_no_traffic) {
  const Machine machine = machine_from_text(kNodes);
  Workload workload;
  workload.tasks = {{1}, {1}};
  workload.messages = {{0, 1, 1, 5000}};
  EXPECT_TRUE(message_traffic(machine, workload, machine.costs(), Placement(2)).pairs().empty());
}

TEST(Iteration, each_bandwidth_sharing_model_has_a_name) {
  EXPECT_EQ(sharing_named("queue"), Sharing::queue);
  EXPECT_EQ(name_of(Sharing::fluid), "fluid");
  EXPECT_THROW(sharing_named("flood"), Error);
}

struct RandomProgram {
  Machine machine;
  Workload workload;
  Placement placement;
};

RandomProgram random_program(std::uint64_t seed) {
  constexpr const char* kMachines[] = {"node:4 numa:2 core:4", "rack:2 node:3 core:2 uplink:5e9",
                                       "node:5 core:3 shared_network:1e9 bandwidth:0",
                                       "numa:4 core:4 factors:2,1"};
  Random random(seed);
  RandomProgram made{machine_from_text(kMachines[random.below(4)]), {}, {}};
  made.workload = generate(parse_recipe("random"), 60, seed)[0];
  std::vector<PlaceId> places;
  for (TaskId t = 0; t < made.workload.num_tasks(); ++t)
    places.push_back(static_cast<PlaceId>(random.below(made.machine.num_places())));
  for (Task& task : made.workload.tasks) task.load_s *= 1e-4;
  made.placement = Placement(places);
  return made;
}

TEST(Iteration, places_and_network_resources_are_busy_for_the_times_that_the_cost_model_gives) {
  for (std::uint64_t seed = 1; seed <= num_seeds(50); ++seed) {
    const RandomProgram made = random_program(seed);
    const CostModel& costs = made.machine.costs();
    const auto times = message_times(made.machine, made.workload, costs, made.placement);
    const Traffic traffic = message_traffic(made.machine, made.workload, costs, made.placement);
    const double busiest_s = *std::max_element(times.resource_s.begin(), times.resource_s.end());
    EXPECT_NEAR(traffic.busiest_s(), busiest_s, 1e-9 * busiest_s) << "seed " << seed;
    const auto work_s = poise::work_s(made.machine, made.workload, made.placement);
    for (const Sharing sharing : {Sharing::fluid, Sharing::queue}) {
      const Iteration iteration = simulate_iteration(traffic, work_s, 0, {.sharing = sharing});
      EXPECT_GE(iteration.end_s, busiest_s) << "seed " << seed;
      for (PlaceId p = 0; p < work_s.size(); ++p) {
        EXPECT_NEAR(iteration.places[p].busy_s(), work_s[p] + times.overhead_s[p], 1e-9)
            << "seed " << seed;
        EXPECT_LE(iteration.places[p].busy_s(), iteration.end_s * (1 + 1e-12));
      }
    }
  }
}

TEST(Iteration, merging_nearly_simultaneous_ends_of_messages_hardly_changes_the_time) {
  double sum = 0;
  const std::uint64_t seeds = num_seeds(50);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const RandomProgram made = random_program(seed);
    const Traffic traffic =
        message_traffic(made.machine, made.workload, made.machine.costs(), made.placement);
    const double exact_s = exchange_s(traffic, {.precision = 0});
    const double error = std::abs(exchange_s(traffic, {.precision = 0.01}) / exact_s - 1);
    EXPECT_LE(error, 0.04) << "seed " << seed;
    sum += error;
  }
  EXPECT_LE(sum / seeds, 0.002);
}

}  // namespace
}  // namespace poise
