// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_links.h"

#include <cmath>
#include <gtest/gtest.h>

#include "poise/machine/text.h"

namespace poise {
namespace {

// Two nodes whose network cards send 1 MB/s, with a latency of 1 s; nothing else takes time.
Machine two_nodes() {
  return machine_from_text(
      "node:2 core:2 latency:1 factors:1,1 bandwidth:1e6 gap:0 overhead:0 copy:0 bus:0");
}

TEST(LendingLinks, a_message_arrives_after_its_latency_plus_the_time_to_transfer_its_bytes) {
  const Machine machine = two_nodes();
  LendingLinks links(machine);
  // The sender's network card needs 4 s for the 4 MB. The receiver's card transfers each piece
  // while the sender's card transfers the next one. So the receiver's card adds only the time of
  // the last piece, 4 ms, to these 4 s.
  EXPECT_NEAR(links.carry(0, 2, 4e6, 10).arrival_s, 10 + 1 + 4, 5e-3);
  EXPECT_DOUBLE_EQ(links.carry(0, 1, 4e6, 10).arrival_s, 10 + 1);  // the bus takes no time
}

TEST(LendingLinks, messages_sent_by_the_same_network_card_are_transferred_one_after_the_other) {
  const Machine machine = two_nodes();
  LendingLinks links(machine);
  EXPECT_NEAR(links.carry(0, 2, 4e6, 0).arrival_s, 5, 0.01);
  EXPECT_NEAR(links.carry(1, 3, 4e6, 0).arrival_s, 9, 0.01);
  // No other message uses the links in this direction.
  EXPECT_NEAR(links.carry(2, 0, 4e6, 0).arrival_s, 5, 0.01);
}

TEST(LendingLinks, a_short_message_is_transferred_between_the_pieces_of_a_long_one) {
  const Machine machine = two_nodes();
  LendingLinks links(machine);
  links.carry(0, 2, 4e6, 0);
  EXPECT_NEAR(links.carry(1, 3, 100, 0).arrival_s, 1, 0.01);
}

TEST(LendingLinks, pieces_of_long_messages_follow_each_other_and_wait_for_earlier_messages) {
  const Machine machine = two_nodes();
  LendingLinks links(machine);
  const double piece_s = 4.0 / 977;  // 4 MB are 977 pieces
  EXPECT_NEAR(links.carry(0, 2, 4e6, 10).arrival_s, 15 + piece_s, 1e-9);
  EXPECT_NEAR(links.carry(1, 3, 4096, 10).arrival_s, 11 + 2 * 4096e-6, 1e-9) << "does not wait";
  // A message of two pieces waits for both earlier messages.
  EXPECT_NEAR(links.carry(1, 3, 8192, 10).arrival_s, 15 + 4 * 4096e-6, 1e-9);
  EXPECT_NEAR(links.carry(0, 3, 2e6, 30).arrival_s, 33 + 2.0 / 489, 1e-9) << "finds idle cards";
}

TEST(LendingLinks, a_message_has_arrived_when_its_last_piece_has_passed_the_last_resource) {
  const Machine machine = machine_from_text(
      "node:2 core:2 latency:1 factors:1,1 bandwidth:1e6 gap:0 overhead:0 copy:0 bus:1e9");
  LendingLinks links(machine);
  // The sender's network card needs 4 s for all pieces. Before these 4 s, the first piece passes
  // the sender's bus; after them, the last piece passes the receiver's network card and bus.
  const double bus_s = 4e-3;
  EXPECT_NEAR(links.carry(0, 2, 4e6, 0).arrival_s, 1 + 4 + (4 + 2 * bus_s) / 977, 1e-9);
}

TEST(LendingLinks, a_message_takes_cpu_time_of_the_sender_and_of_the_receiver) {
  const Machine machine = machine_from_text("core:2 latency:0 overhead:0.5 copy:1e-6 bus:0");
  LendingLinks links(machine);
  const auto passage = links.carry(0, 1, 1e6, 0);
  EXPECT_DOUBLE_EQ(passage.sender_s, 1.5);
  EXPECT_DOUBLE_EQ(passage.receiver_s, 1.5);
  EXPECT_DOUBLE_EQ(passage.arrival_s, 1.5);
}

TEST(LendingLinks,
     the_distance_between_places_is_least_inside_a_domain_and_infinite_between_nodes) {
  const Machine machine = machine_from_text("node:2 numa:2 core:2 factors:30,4,1");
  const LendingLinks links(machine);
  EXPECT_EQ(links.locality(0, 1).distance, 1);
  EXPECT_GT(links.locality(0, 2).distance, 1);
  EXPECT_TRUE(std::isinf(links.locality(0, 4).distance));
  EXPECT_EQ(links.locality(0, 3).group, 2u);
  EXPECT_EQ(links.locality(0, 7).group, 4u);
}

}  // namespace
}  // namespace poise
