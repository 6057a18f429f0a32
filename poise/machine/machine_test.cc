// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/machine.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <utility>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(Machine, levels_and_message_cost_factors_are_read_from_the_text) {
  const Machine machine = machine_from_text("node:20 numa:2 core:2 factors:10,1.5,1");
  EXPECT_EQ(machine.num_places(), 80u);
  EXPECT_EQ(machine.num_nodes(), 20u);
  EXPECT_EQ(machine.num_domains(), 40u);
  EXPECT_EQ(machine.message_factor(0, 0), 0);
  EXPECT_EQ(machine.message_factor(0, 1), 1);
  EXPECT_EQ(machine.message_factor(0, 2), 1.5);
  EXPECT_EQ(machine.message_factor(0, 4), 10);
}

TEST(Machine, a_default_constructed_machine_is_one_place) { EXPECT_EQ(Machine().num_places(), 1u); }

TEST(Machine, the_hop_count_between_two_places_is_the_path_length_in_the_tree_of_levels) {
  const Machine machine = machine_from_text("node:20 numa:2 core:2");
  EXPECT_EQ(machine.hops(0, 0), 0u);
  EXPECT_EQ(machine.hops(0, 1), 2u);
  EXPECT_EQ(machine.hops(0, 2), 4u);
  EXPECT_EQ(machine.hops(0, 79), 6u);
}

TEST(Machine, a_shared_cache_inside_a_memory_domain_has_its_own_message_cost_factor) {
  const Machine machine = machine_from_text("node:2 numa:2 l3:2 core:4 factors:10,2,1.2,1");
  EXPECT_EQ(machine.num_domains(), 4u);
  EXPECT_EQ(machine.message_factor(0, 3), 1);
  EXPECT_EQ(machine.message_factor(0, 4), 1.2);
  EXPECT_EQ(machine.message_factor(0, 8), 2);
  EXPECT_EQ(machine.message_factor(0, 16), 10);
}

TEST(Machine, levels_above_the_nodes_are_tiers_of_the_network) {
  const Machine machine = machine_from_text("rack:2 node:4 core:2 factors:20,10,1");
  EXPECT_EQ(machine.message_factor(0, 2), 10);
  EXPECT_EQ(machine.message_factor(0, 8), 20);
  EXPECT_EQ(machine.hops(0, 8), 6u);
}

TEST(Machine, a_torus_has_wrap_around_links) {
  const Machine machine = machine_from_text("torus:8x8x8 numa:4 core:8 factors:10,1.5,1 hop:0.5");
  EXPECT_EQ(machine.num_places(), 16384u);
  const PlaceId far = 32 * (7 * 64 + 7 * 8 + 7);
  EXPECT_EQ(machine.network().hops(0, machine.node_of_place(far)), 3u);
  EXPECT_EQ(machine.message_factor(0, far), 11);
  EXPECT_EQ(machine.hops(0, far), 2 * 2 + 3u);
}

TEST(Machine, hop_counts_are_the_same_with_and_without_stored_router_coordinates) {
  for (const char* text : {"torus:5x3x4 core:2", "mesh:5x3x4 core:2", "torus:4x3 node:2 core:1",
                           "torus:7 core:1", "mesh:1x6x1 core:1", "dragonfly:5x4 core:1"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    Network plain = machine.network();
    EXPECT_EQ(plain.coordinates.empty(), plain.shape == Network::Shape::dragonfly);
    plain.coordinates.clear();
    for (NodeId a = 0; a < machine.num_nodes(); ++a)
      for (NodeId b = 0; b < machine.num_nodes(); ++b) {
        EXPECT_EQ(machine.network().hops(a, b), plain.hops(a, b)) << a << " to " << b;
        EXPECT_EQ(machine.network().latency_factor(a, b), plain.latency_factor(a, b));
      }
  }
}

TEST(Machine, recomputes_hop_counts_if_the_dimensions_or_routers_of_a_torus_change) {
  MachineParts parts = machine_from_text("torus:4x4 core:1").parts();
  parts.network.dims = {2, 8};
  EXPECT_EQ(Machine(parts).network().hops(0, 4), 4u);
  parts.network.router_of_node = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_EQ(Machine(parts).network().hops(0, 8), 1u);
}

TEST(Machine, several_nodes_may_share_a_router) {
  const Machine machine = machine_from_text("torus:4x4 node:2 core:2 factors:10,5,1");
  EXPECT_EQ(machine.num_nodes(), 32u);
  EXPECT_EQ(machine.message_factor(0, 2), 5);
  EXPECT_EQ(machine.message_factor(0, 4), 10);
}

TEST(Machine, a_network_may_consist_of_one_router) {
  MachineParts parts = machine_from_text("torus:1 node:4 core:2 factors:10,5,1").parts();
  const Machine machine(parts);
  EXPECT_EQ(machine.num_nodes(), 4u);
  EXPECT_EQ(machine.message_factor(0, 2), 5);
  parts.network.router_of_node = {0, 0, 0, 0};
  EXPECT_EQ(Machine(parts).message_factor(0, 2), 5);
}

/// True if the machine of the text is still valid after a change of its network or costs.
bool is_valid(const char* text, const std::function<void(Network&, CostModel&)>& change) {
  MachineParts parts = machine_from_text(text).parts();
  change(parts.network, parts.costs);
  try {
    (void)Machine(std::move(parts));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Machine, refuses_tiers_or_a_matrix_of_the_network_that_are_not_for_all_nodes) {
  constexpr const char* kRacks = "rack:2 node:2 core:1 factors:20,10,1";
  const auto with_groups = [](std::vector<std::uint32_t> groups) {
    return [=](Network& network, CostModel&) { network.tiers.at(0).group_of_node = groups; };
  };
  EXPECT_TRUE(is_valid(kRacks, with_groups({0, 0, 0, 1})));
  EXPECT_FALSE(is_valid(kRacks, with_groups({0, 0, 1})));
  EXPECT_FALSE(is_valid(kRacks, with_groups({0, 0, 1, 1, 1})));
  const auto with_factor = [](double factor) {
    return [=](Network& network, CostModel&) { network.tiers.at(0).latency_factor = factor; };
  };
  for (const double factor : {-1.0, 1e10, std::nan("")})
    EXPECT_FALSE(is_valid(kRacks, with_factor(factor))) << factor;

  const auto with_matrix = [](std::uint32_t nodes, std::vector<double> matrix) {
    return [=](Network& network, CostModel&) {
      network.shape = Network::Shape::matrix;
      network.matrix_nodes = nodes;
      network.matrix = matrix;
    };
  };
  EXPECT_TRUE(is_valid("node:2 core:1", with_matrix(2, {1, 2, 3, 1})));
  EXPECT_FALSE(is_valid("node:2 core:1", with_matrix(3, {1, 2, 3, 1})));
  EXPECT_FALSE(is_valid("node:2 core:1", with_matrix(2, {1, 2, 3})));
  EXPECT_FALSE(is_valid("node:2 core:1", with_matrix(2, {1, 2, -3, 1})));
}

TEST(Machine, a_node_has_1_to_1024_network_cards) {
  const auto with_cards = [](std::uint32_t cards) {
    return is_valid("node:2 core:2", [=](Network&, CostModel& costs) { costs.cards = cards; });
  };
  EXPECT_FALSE(with_cards(0));
  EXPECT_TRUE(with_cards(1));
  EXPECT_TRUE(with_cards(1024));
  EXPECT_FALSE(with_cards(1025));
}

TEST(Machine, refuses_negative_or_undefined_times_of_messages_and_migrations) {
  const auto expect_checked = [&](const auto& field_of) {
    const auto with = [&](double value) {
      return is_valid("node:2 core:2",
                      [&](Network&, CostModel& costs) { field_of(costs) = value; });
    };
    EXPECT_TRUE(with(0));
    EXPECT_FALSE(with(-1e-9));
    EXPECT_FALSE(with(std::nan("")));
  };
  for (double CostModel::*cost :
       {&CostModel::seconds_per_message, &CostModel::seconds_per_byte,
        &CostModel::seconds_per_migrated_byte, &CostModel::seconds_per_migrated_task,
        &CostModel::card_s_per_message})
    expect_checked([=](CostModel& costs) -> double& { return costs.*cost; });
  for (TransportCosts CostModel::*transport : {&CostModel::inside, &CostModel::network})
    for (double TransportCosts::*cost :
         {&TransportCosts::send_s, &TransportCosts::receive_s, &TransportCosts::copy_s_per_byte,
          &TransportCosts::latency_s, &TransportCosts::bus_crossings})
      expect_checked([=](CostModel& costs) -> double& { return costs.*transport.*cost; });
}

TEST(Machine,
     refuses_a_network_with_invalid_dimensions_or_with_routers_that_do_not_match_the_nodes) {
  constexpr const char* kTorus = "torus:2x2 node:2 core:1";
  const auto with_dims = [](std::vector<std::uint32_t> dims) {
    return [=](Network& network, CostModel&) { network.dims = dims; };
  };
  EXPECT_TRUE(is_valid(kTorus, with_dims({2, 2})));
  EXPECT_TRUE(is_valid(kTorus, with_dims({1u << 13, 1u << 13})));
  EXPECT_FALSE(is_valid(kTorus, with_dims({1u << 13, (1u << 13) + 1})));
  EXPECT_FALSE(is_valid(kTorus, with_dims({})));
  EXPECT_FALSE(is_valid(kTorus, with_dims({4, 0})));
  EXPECT_FALSE(is_valid(kTorus, with_dims({3})));
  EXPECT_TRUE(is_valid("dragonfly:2x2 core:1", with_dims({4, 1})));
  EXPECT_FALSE(is_valid("dragonfly:2x2 core:1", with_dims({4})));
  EXPECT_FALSE(is_valid("dragonfly:2x2 core:1", with_dims({2, 2, 1})));

  EXPECT_FALSE(
      is_valid(kTorus, [](Network& network, CostModel&) { network.nodes_per_router = 0; }));
  EXPECT_FALSE(
      is_valid(kTorus, [](Network& network, CostModel&) { network.nodes_per_router = 1; }));
  const auto with_routers = [](std::vector<std::uint32_t> routers) {
    return [=](Network& network, CostModel&) { network.router_of_node = routers; };
  };
  EXPECT_TRUE(is_valid(kTorus, with_routers({0, 1, 2, 3, 3, 3, 3, 3})));
  EXPECT_FALSE(is_valid(kTorus, with_routers({0, 1, 2, 3, 4, 3, 3, 3})));
  EXPECT_FALSE(is_valid(kTorus, with_routers({0, 1, 2, 3, 3, 3, 3})));
  EXPECT_FALSE(is_valid(kTorus, with_routers({0, 1, 2, 3, 3, 3, 3, 3, 3})));
}

TEST(Machine, refuses_a_machine_whose_nodes_have_too_many_memory_domains) {
  EXPECT_EQ(machine_from_text("node:30 numa:1000").num_places(), 30'000u);
  EXPECT_THROW(machine_from_text("pack:24 c:20 numa:21"), Error);
  EXPECT_THROW(machine_from_text("numa:32768 core:2"), Error);
}

TEST(Machine, errors_name_the_word_of_the_text_that_is_wrong) {
  for (const char* text : {"", "node", "node:0", "node:x", "core:4 factors:1,2", "core:-1",
                           "node:2 node:2", "node:2 torus:2x2", "core:99999999999", "core:4 hop:a",
                           "core:4 factors:1e308", "core:4 speeds:1e-300", "core:4 speeds:1e10",
                           "core:4 byte:1e300", "node:2 core:2 factors:1e10,1"})
    EXPECT_THROW(machine_from_text(text), Error) << text;
}

TEST(Machine, refuses_bandwidths_so_small_that_times_would_be_infinite) {
  for (const char* setting : {"bandwidth", "bus", "uplink", "shared_network"}) {
    const std::string text = std::string("node:2 core:2 ") + setting + ":";
    EXPECT_THROW(machine_from_text(text + "1e-308"), Error) << setting;
    EXPECT_NO_THROW(machine_from_text(text + "0")) << setting;
    EXPECT_NO_THROW(machine_from_text(text + "1")) << setting;
  }
}

TEST(MachineText, a_misspelt_setting_is_refused_and_not_read_as_a_level) {
  EXPECT_THROW(machine_from_text("node:2 core:2 bandwith:1e9"), Error);
  EXPECT_THROW(machine_from_text("node:2 core:2 factor:10,1"), Error);
  EXPECT_EQ(machine_from_text("rack:2 blade:2 die:2 ccx:2 core:2").num_places(), 32u);
}

TEST(MachineText, settings_such_as_bandwidth_and_latency_become_the_costs_of_the_machine) {
  const CostModel costs =
      machine_from_text(
          "rack:2 node:2 core:2 factors:9,5,1 bandwidth:1e9 bus:2e9 cards:3 gap:1e-7 uplink:4e9 "
          "shared_network:5e9 latency:6e-7 overhead:7e-7 copy:8e-10 migrated_task:9e-6")
          .costs();
  EXPECT_EQ(costs.card_bytes_per_s, 1e9);
  EXPECT_EQ(costs.bus_bytes_per_s, 2e9);
  EXPECT_EQ(costs.cards, 3u);
  EXPECT_EQ(costs.card_s_per_message, 1e-7);
  EXPECT_EQ(costs.uplink_bytes_per_s, std::vector<double>{4e9});
  EXPECT_EQ(costs.shared_network_bytes_per_s, 5e9);
  EXPECT_EQ(costs.seconds_per_migrated_task, 9e-6);
  for (const TransportCosts& transport : {costs.inside, costs.network}) {
    EXPECT_EQ(transport.latency_s, 6e-7);
    EXPECT_EQ(transport.send_s, 7e-7);
    EXPECT_EQ(transport.receive_s, 7e-7);
    EXPECT_EQ(transport.copy_s_per_byte, 8e-10);
  }
}

TEST(UnitCosts,
     are_cpu_times_and_latency_per_message_and_copies_and_the_slowest_resource_per_byte) {
  CostModel costs;
  costs.formula = CostFormula::physical;
  costs.network = {1e-6, 2e-6, 1e-9, 4e-6, 3};
  costs.inside = {1e-7, 2e-7, 2e-9, 4e-7, 2};
  costs.bus_bytes_per_s = costs.card_bytes_per_s = 0;
  const Machine machine = machine_from_text("node:2 core:2"), node = machine_from_text("core:2");
  const auto byte_s = [&] { return unit_costs(machine, costs).byte_s; };
  EXPECT_DOUBLE_EQ(unit_costs(machine, costs).message_s, 7e-6);
  EXPECT_DOUBLE_EQ(byte_s(), 2e-9) << "copies at both ends; the bandwidths are unlimited";
  costs.card_bytes_per_s = 1e9;
  costs.cards = 2;
  EXPECT_DOUBLE_EQ(byte_s(), 2.5e-9) << "two cards";
  costs.shared_network_bytes_per_s = 1e9;
  EXPECT_DOUBLE_EQ(byte_s(), 3e-9) << "the shared network is slower than the cards";
  costs.bus_bytes_per_s = 1e9;
  EXPECT_DOUBLE_EQ(byte_s(), 8e-9) << "the memory bus is slowest: 3 crossings at each end";
  EXPECT_DOUBLE_EQ(unit_costs(node, costs).message_s, 7e-7);
  EXPECT_DOUBLE_EQ(unit_costs(node, costs).byte_s, 8e-9);

  costs.formula = CostFormula::nuco;
  costs.seconds_per_message = 5;
  costs.seconds_per_byte = 6;
  EXPECT_EQ(unit_costs(machine, costs).message_s, 5);
  EXPECT_EQ(unit_costs(machine, costs).byte_s, 6);
}

}  // namespace
TEST(AssumedBus, the_bandwidth_of_a_domain_grows_with_its_number_of_places) {
  const auto bus = [](const char* text) { return machine_from_text(text).costs().bus_bytes_per_s; };
  EXPECT_EQ(bus("core:2"), 2e10);
  EXPECT_EQ(bus("core:64"), 64 * 3.5e9);
  EXPECT_EQ(bus("node:3 numa:4 core:16"), 16 * 3.5e9);
  EXPECT_EQ(bus("core:64 bus:1e9"), 1e9);
  std::vector<Place> uneven(12);
  for (std::size_t p = 3; p < uneven.size(); ++p) uneven[p].domain = 1;
  EXPECT_EQ(assumed_bus_bytes_per_s(uneven), 9 * 3.5e9);
}

}  // namespace poise
