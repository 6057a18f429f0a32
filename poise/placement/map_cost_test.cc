// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/map_cost.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "tests/support/random_problem.h"

#include "poise/base/error.h"
#include "poise/base/random.h"

namespace poise {
namespace {

TEST(MapCost, agrees_with_sums_over_all_messages_on_random_machines) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    OwnedProblem owned = random_problem(random);
    const bool counts_messages = random.below(3) == 0;
    if (counts_messages)
      for (Message& message : owned.workload.messages) message.bytes = 0;
    const Machine& machine = owned.machine;
    bool has_bytes = false;
    for (const Message& m : owned.workload.messages) has_bytes = has_bytes || m.bytes > 0;
    EXPECT_EQ(MessageSize(owned.workload).counts_messages(), !has_bytes);
    std::vector<std::uint64_t> out(machine.num_nodes(), 0), in(machine.num_nodes(), 0);
    double hops = 0, factors = 0;
    for (const Message& m : owned.workload.messages) {
      const std::uint64_t size = has_bytes ? m.bytes : m.count;
      const PlaceId from = owned.current.of(m.from), to = owned.current.of(m.to);
      hops += static_cast<double>(size * machine.hops(from, to));
      factors += static_cast<double>(size) * machine.message_factor(from, to);
      if (machine.node_of_place(from) == machine.node_of_place(to)) continue;
      out[machine.node_of_place(from)] += size;
      in[machine.node_of_place(to)] += size;
    }
    std::uint64_t sum = 0, busiest_node = 0, busiest_card = 0;
    for (NodeId n = 0; n < machine.num_nodes(); ++n) {
      sum += out[n];
      busiest_node = std::max(busiest_node, out[n] + in[n]);
      busiest_card = std::max({busiest_card, out[n], in[n]});
    }
    const MapCost by_hops = map_cost(machine, owned.workload, owned.current, Distance::hops);
    const MapCost by_factor = map_cost(machine, owned.workload, owned.current, Distance::factors);
    EXPECT_NEAR(by_hops.traffic, hops, 1e-9 * hops);
    EXPECT_NEAR(by_factor.traffic, factors, 1e-9 * factors);
    for (const MapCost& cost : {by_hops, by_factor}) {
      EXPECT_EQ(cost.internode_bytes, sum);
      EXPECT_EQ(cost.busiest_node_bytes, busiest_node);
      EXPECT_EQ(cost.busiest_card_bytes, busiest_card);
    }
  }
}

TEST(MapCost, each_distance_is_found_by_its_name) {
  for (const Distance distance : {Distance::hops, Distance::factors})
    EXPECT_EQ(distance_named(name_of(distance)), distance);
  EXPECT_EQ(name_of(Distance::hops), "hops");
  EXPECT_EQ(name_of(Distance::factors), "factors");
  EXPECT_THROW(distance_named("metres"), Error);
}

}  // namespace
}  // namespace poise
