// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_transport.h"

#include <cmath>
#include <gtest/gtest.h>

#include "poise/machine/text.h"

namespace poise {
namespace {

// Three nodes of two ranks each. A network card sends 100 bytes per second.
LendingScenario three_nodes() {
  LendingScenario scenario;
  scenario.num_ranks = 6;
  scenario.ranks_per_node = 2;
  scenario.near_latency_s = 0.25;
  scenario.far_latency_s = 4;
  scenario.card_bytes_per_s = 100;
  scenario.message_overhead_s = 0.5;
  return scenario;
}

TEST(LendingTransport, a_message_leaves_only_after_the_overhead_of_the_sender) {
  const LendingScenario scenario = three_nodes();
  Random random(1);
  LendingTransport transport(scenario, random);
  double cpu_s = 2;
  const LendingTransport::Passage near = transport.carry(0, 1, 1e6, 10, cpu_s);
  EXPECT_EQ(cpu_s, 2.5);
  EXPECT_EQ(near.arrival_s, 10 + 2.5 + 0.25);
  EXPECT_EQ(near.receiver_s, 0.5);
  EXPECT_EQ(near.travel_s, 0);
  EXPECT_EQ(transport.carry(2, 5, 300, 10, cpu_s).arrival_s, 10 + 3 + 3 + 4);
  EXPECT_EQ(cpu_s, 3);
}

TEST(LendingTransport, the_card_of_a_node_sends_one_message_after_the_other) {
  const LendingScenario scenario = three_nodes();
  Random random(1);
  LendingTransport transport(scenario, random);
  double cpu_s = 0, other_cpu_s = 0, later_s = 0;
  EXPECT_EQ(transport.carry(0, 2, 300, 0, cpu_s).arrival_s, 0.5 + 3 + 4);
  EXPECT_EQ(transport.carry(1, 4, 100, 0, other_cpu_s).arrival_s, 0.5 + 3 + 1 + 4);
  EXPECT_EQ(transport.carry(0, 4, 100, 20, later_s).arrival_s, 20 + 0.5 + 1 + 4) << "it is idle";
  double from_other_node_s = 0;
  EXPECT_EQ(transport.carry(2, 0, 300, 0, from_other_node_s).arrival_s, 0.5 + 3 + 4);
}

TEST(LendingTransport, counts_the_bytes_that_leave_the_busiest_node) {
  const LendingScenario scenario = three_nodes();
  Random random(1);
  LendingTransport transport(scenario, random);
  double cpu_s = 0;
  transport.carry(0, 1, 1e6, 0, cpu_s);  // stays in the node
  transport.carry(0, 2, 10, 0, cpu_s);
  transport.carry(3, 0, 20, 0, cpu_s);
  transport.carry(2, 4, 7, 0, cpu_s);
  EXPECT_EQ(transport.max_bytes_out(), 27);
}

TEST(LendingTransport, other_nodes_are_infinitely_far_away_if_the_machine_is_not_described) {
  const LendingScenario scenario = three_nodes();
  Random random(1);
  const LendingTransport transport(scenario, random);
  EXPECT_EQ(transport.locality(2, 3).distance, 1);
  EXPECT_TRUE(std::isinf(transport.locality(2, 5).distance));
  EXPECT_TRUE(std::isinf(transport.locality(2, 1).distance));
  EXPECT_EQ(transport.node_of(3), 1u);
  EXPECT_EQ(transport.node_of(4), 2u);
}

TEST(LendingTransport, random_delays_do_not_change_the_order_of_messages_between_two_ranks) {
  LendingScenario scenario = three_nodes();
  scenario.max_delay_s = 5;
  scenario.stall_share = 0.3;
  scenario.stall_s = 20;
  Random random(1);
  LendingTransport transport(scenario, random);
  double last_s = 0, last_of_other_s = 0, longest_s = 0;
  bool overtakes = false;
  for (int i = 0; i < 200; ++i) {
    double cpu_s = 0;
    const double arrival_s = transport.carry(0, 1, 1, i, cpu_s).arrival_s;
    const double of_other_s = transport.carry(2, 1, 1, i, cpu_s = 0).arrival_s;
    EXPECT_GE(arrival_s, std::max(last_s, i + 0.5 + 0.25));
    EXPECT_GE(of_other_s, last_of_other_s);
    overtakes |= of_other_s < last_s;
    longest_s = std::max(longest_s, arrival_s - (i + 0.5 + 0.25));
    last_s = arrival_s;
    last_of_other_s = of_other_s;
  }
  EXPECT_TRUE(overtakes);
  EXPECT_GT(longest_s, 20);
  EXPECT_LE(longest_s, 25);
}

TEST(LendingTransport, messages_travel_over_the_links_of_the_machine) {
  const Machine machine = machine_from_text(
      "node:2 core:2 latency:1 factors:1,1 bandwidth:1e6 gap:0 overhead:0.5 copy:0 bus:0");
  LendingScenario scenario;
  scenario.num_ranks = 2;
  scenario.machine = &machine;
  scenario.places = {1, 2};  // on different nodes
  Random random(1);
  LendingTransport transport(scenario, random);
  LendingLinks links(machine);
  double cpu_s = 0.25;
  const LendingTransport::Passage passage = transport.carry(0, 1, 4e6, 10, cpu_s);
  const LendingLinks::Passage expected = links.carry(1, 2, 4e6, 10.25);
  EXPECT_EQ(passage.arrival_s, expected.arrival_s);
  EXPECT_EQ(passage.travel_s, expected.arrival_s - 10.25);
  EXPECT_EQ(passage.receiver_s, expected.receiver_s);
  EXPECT_EQ(cpu_s, 0.25 + expected.sender_s);
  EXPECT_EQ(transport.locality(0, 1).distance, links.locality(1, 2).distance);
}

}  // namespace
}  // namespace poise
