#include "runtimes/balance/seats.h"

#include <gmock/gmock.h>

#include "poise/machine/text.h"

namespace poise::balance {
namespace {

using testing::ElementsAre;

const std::string kNames[] = {"a", "b"};

TEST(Seats, bound_ones_have_the_place_of_their_core) {
  const Machine node = machine_from_text("numa:2 core:2");
  std::vector<Seat> seats;
  for (const PlaceId p : {3u, 0u, 2u})
    seats.push_back({0, static_cast<std::int32_t>(node.place(p).os_index)});
  const Seated seated = balance::seated(node, seats, std::span(kNames, 1));
  EXPECT_THAT(seated.seat_of_place, ElementsAre(1, 2, 0));
  EXPECT_EQ(seated.machine.num_places(), 3u);
  EXPECT_EQ(seated.machine.domain_of(0), 0u);
  EXPECT_EQ(seated.machine.domain_of(2), 1u);
}

TEST(Seats, others_fill_their_host_in_order) {
  const Machine node = machine_from_text("numa:2 core:2");
  const Seat seats[] = {{0, -1}, {1, -1}, {0, -1}, {1, -1}, {0, -1}};
  const Seated seated = balance::seated(node, seats, kNames);
  EXPECT_THAT(seated.seat_of_place, ElementsAre(0, 2, 4, 1, 3));
  EXPECT_EQ(seated.machine.num_nodes(), 2u);
  EXPECT_EQ(seated.machine.node_of_place(2), 0u);
  EXPECT_EQ(seated.machine.node_of_place(3), 1u);
}

TEST(Seats, more_than_there_are_cores_share_them_evenly) {
  const Machine node = machine_from_text("numa:2 core:1");
  const std::vector<Seat> seats(6, Seat{0, -1});
  const Seated seated = balance::seated(node, seats, std::span(kNames, 1));
  EXPECT_EQ(seated.machine.num_places(), 6u);
  EXPECT_EQ(seated.machine.domain_of(2), 0u);
  EXPECT_EQ(seated.machine.domain_of(3), 1u);
}

TEST(Seats, two_on_one_core_are_not_believed) {
  const Machine node = machine_from_text("numa:2 core:2");
  const Seat seats[] = {{0, 0}, {0, 0}};
  const Seated seated = balance::seated(node, seats, std::span(kNames, 1));
  EXPECT_EQ(seated.machine.num_places(), 2u);
  EXPECT_THAT(seated.seat_of_place, ElementsAre(0, 1));
}

TEST(Seats, each_may_have_several_places) {
  const Machine node = machine_from_text("core:4");
  const Seat seats[] = {{0, 2}, {0, 1}};
  const Seated seated = balance::seated(node, seats, std::span(kNames, 1), 2);
  EXPECT_THAT(seated.seat_of_place, ElementsAre(0, 0, 1, 1));
}

TEST(Seats, a_message_between_hosts_costs_more_where_nobody_measured) {
  const Machine node = with_assumptions(machine_from_text("core:2"));
  const Seat seats[] = {{0, -1}, {1, -1}};
  const Machine machine = balance::seated(node, seats, kNames).machine;
  EXPECT_EQ(machine.latency_factor(0, 1), 10);
}

TEST(Seats, a_message_costs_more_than_the_memory_that_was_measured) {
  MachineParts parts =
      machine_from_text("numa:2 core:2 factors:1.6,0.3 message:1e-7 byte:5e-11").parts();
  parts.numa_source = Source::measured;
  parts.network_source = Source::assumed;
  const Machine node = with_assumptions(Machine(parts));
  EXPECT_EQ(node.costs().seconds_per_message, 5e-7);
  EXPECT_EQ(node.costs().seconds_per_byte, 2e-10);
  EXPECT_EQ(node.message_factor(0, 1), 1) << "what a cache saves is little beside it";
  EXPECT_EQ(node.message_factor(0, 2), 1.6);
  parts.network_source = Source::measured;
  EXPECT_EQ(with_assumptions(Machine(parts)).costs().seconds_per_message, 1e-7);
}

}  // namespace
}  // namespace poise::balance
