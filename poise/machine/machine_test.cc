// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/machine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/random.h"
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

/// True if the machine described by the text is still valid after a change of its network or costs.
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

TEST(Machine, refuses_network_tiers_or_a_network_matrix_that_do_not_cover_all_nodes) {
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
  for (const char* text :
       {"", "node", "node:0", "node:x", "core:4 factors:1,2", "core:-1", "node:2 node:2",
        "node:2 torus:2x2", "core:99999999999", "core:4 hop:a", "core:4 factors:1e308",
        "core:4 speeds:1e-300", "core:4 speeds:1e10", "core:4 byte:1e300",
        "node:2 core:2 factors:1e10,1", "core:4 bus:1 bus:2", "node:4 core:8 card:2",
        "core:2 hop:0.5", "node:2 core:4 uplink:1e9"})
    EXPECT_THROW(machine_from_text(text), Error) << text;
}

TEST(Machine, refuses_bandwidths_so_small_that_times_would_be_infinite) {
  for (const char* setting : {"bandwidth", "bus", "uplink", "shared_network"}) {
    const std::string text = std::string("rack:2 node:2 core:2 ") + setting + ":";
    EXPECT_THROW(machine_from_text(text + "1e-308"), Error) << setting;
    EXPECT_NO_THROW(machine_from_text(text + "0")) << setting;
    EXPECT_NO_THROW(machine_from_text(text + "1")) << setting;
  }
}

TEST(MachineText, a_misspelt_setting_or_level_is_refused_instead_of_becoming_a_new_level) {
  for (const char* text :
       {"node:2 core:2 bandwith:1e9", "node:2 core:2 factor:10,1", "nod:2 core:2", "nodes:2 core:2",
        "Node:2 core:2", "node:2 nuam:2 core:2", "node:2 sockets:2 core:4", "node:2 cores:2",
        "trous:2x2 core:1"})
    EXPECT_THROW(machine_from_text(text), Error) << text;
  EXPECT_EQ(machine_from_text("rack:2 blade:2 die:2 ccx:2 core:2").num_places(), 32u);
  EXPECT_EQ(machine_from_text("hall:2 row:2 switch:2 pack:2 l3:2 pu:2").num_places(), 64u);
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
     messages_cost_cpu_time_plus_latency_and_bytes_cost_two_copies_plus_the_slowest_resource) {
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

/// True if the machine described by the text is still valid after a change of its parts.
bool is_valid_after(const char* text, const std::function<void(MachineParts&)>& change) {
  MachineParts parts = machine_from_text(text).parts();
  change(parts);
  try {
    (void)Machine(std::move(parts));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Machine, refuses_levels_that_do_not_nest_or_whose_groups_do_not_contain_every_place_once) {
  const auto with_groups = [](std::size_t level, std::vector<PlaceId> first_place) {
    return is_valid_after("l3:2 l2:2 core:2", [&](MachineParts& parts) {
      parts.levels.at(level).first_place = first_place;
    });
  };
  EXPECT_TRUE(with_groups(0, {0, 8}));
  EXPECT_TRUE(with_groups(0, {0, 6, 8}));
  EXPECT_TRUE(with_groups(1, {0, 4, 6, 7, 8}));
  for (const std::vector<PlaceId>& groups : {std::vector<PlaceId>{},
                                             {0},
                                             {8},
                                             {1, 8},
                                             {0, 7},
                                             {0, 4, 9},
                                             {0, 4, 4, 8},
                                             {0, 6, 4, 8},
                                             {0, 5, 8}})
    EXPECT_FALSE(with_groups(0, groups));
  EXPECT_FALSE(with_groups(1, {0, 2, 6, 8})) << "a group is in both groups of the level above";
  EXPECT_FALSE(with_groups(2, {0, 2, 4, 6, 8})) << "a group of the last level has two places";
  EXPECT_FALSE(is_valid_after("core:1", [](MachineParts& parts) { parts.levels.clear(); }));
  EXPECT_FALSE(is_valid_after("core:1", [](MachineParts& parts) { parts.places.clear(); }));
}

TEST(Machine, factors_are_at_most_a_billion_and_speeds_are_from_a_billionth_to_a_billion) {
  using Set = void (*)(MachineParts&, double);
  const Set factors[] = {
      [](MachineParts& parts, double value) { parts.levels[0].latency_factor = value; },
      [](MachineParts& parts, double value) { parts.levels[2].bandwidth_factor = value; },
      [](MachineParts& parts, double value) { parts.node_kinds[0].latency_factor[1] = value; },
      [](MachineParts& parts, double value) { parts.node_kinds[0].bandwidth_factor[2] = value; },
      [](MachineParts& parts, double value) { parts.network.factor = value; },
      [](MachineParts& parts, double value) { parts.network.factor_per_hop = value; },
      [](MachineParts& parts, double value) { parts.network.same_router_factor = value; },
      [](MachineParts& parts, double value) { parts.network.bandwidth_factor = value; },
      [](MachineParts& parts, double value) { parts.root_latency_factor = value; },
      [](MachineParts& parts, double value) { parts.root_bandwidth_factor = value; }};
  const Set speed = [](MachineParts& parts, double value) { parts.places[7].speed = value; };
  const auto is_valid = [](Set set, double value) {
    return is_valid_after("node:2 numa:2 core:2", [&](MachineParts& parts) { set(parts, value); });
  };
  for (const Set set : factors) {
    for (const double value : {0.0, 0.5, 1.5e-10, 1e9}) EXPECT_TRUE(is_valid(set, value)) << value;
    for (const double value : {-1e-9, 1.001e9, std::nan("")})
      EXPECT_FALSE(is_valid(set, value)) << value;
  }
  for (const double value : {1 / 1e9, 0.5, 1e9}) EXPECT_TRUE(is_valid(speed, value)) << value;
  for (const double value : {0.0, -1.0, 0.99e-9, 1.001e9, std::nan("")})
    EXPECT_FALSE(is_valid(speed, value)) << value;
}

TEST(Machine, bandwidths_are_unlimited_or_from_1_to_a_quintillion_bytes_per_second) {
  using Set = void (*)(CostModel&, double);
  const Set bandwidths[] = {
      [](CostModel& costs, double value) { costs.bus_bytes_per_s = value; },
      [](CostModel& costs, double value) { costs.card_bytes_per_s = value; },
      [](CostModel& costs, double value) { costs.shared_network_bytes_per_s = value; },
      [](CostModel& costs, double value) {
        costs.uplink_bytes_per_s = {5, value};
      }};
  for (const Set set : bandwidths) {
    const auto is_valid = [&](double value) {
      return is_valid_after("node:2 core:1", [&](MachineParts& parts) { set(parts.costs, value); });
    };
    for (const double value : {0.0, 1.0, 1.5, 1e18}) EXPECT_TRUE(is_valid(value)) << value;
    for (const double value : {-1.0, 0.999, 1.001e18, std::nan("")})
      EXPECT_FALSE(is_valid(value)) << value;
  }
}

TEST(Machine, domains_must_be_numbered_in_the_order_of_places_and_be_inside_one_node) {
  const auto with_domains = [](std::vector<DomainId> domains) {
    return is_valid_after("node:2 numa:2 core:2", [&](MachineParts& parts) {
      for (PlaceId p = 0; p < 8; ++p) parts.places[p].domain = domains[p];
    });
  };
  EXPECT_TRUE(with_domains({0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_TRUE(with_domains({0, 1, 1, 1, 2, 2, 2, 3}));
  for (const std::vector<DomainId>& domains : {std::vector<DomainId>{1, 1, 2, 2, 3, 3, 4, 4},
                                               {0, 0, 2, 2, 3, 3, 4, 4},
                                               {0, 0, 1, 1, 2, 2, 4, 4},
                                               {0, 1, 0, 1, 2, 2, 3, 3},
                                               {0, 0, 1, 1, 1, 2, 2, 2},
                                               {0, 1, 2, 2, 3, 3, 3, 3}})
    EXPECT_FALSE(with_domains(domains));
}

TEST(Machine, each_node_needs_a_node_kind_whose_matrices_fit_its_number_of_domains) {
  const auto is_valid = [](const std::function<void(MachineParts&)>& change) {
    return is_valid_after("node:3 numa:2 core:1", change);
  };
  const NodeKind three{3, std::vector<double>(9, 1), std::vector<double>(9, 1)};
  EXPECT_TRUE(is_valid([&](MachineParts& parts) {
    parts.node_kinds.push_back(parts.node_kinds[0]);
    parts.kind_of_node = {1, 0, 1};
  }));
  EXPECT_TRUE(is_valid([&](MachineParts& parts) { parts.node_kinds.push_back(three); }));
  const std::function<void(MachineParts&)> changes[] = {
      [](MachineParts& parts) {
        parts.kind_of_node = {0, 0};
      },
      [](MachineParts& parts) {
        parts.kind_of_node = {0, 0, 0, 0};
      },
      [](MachineParts& parts) {
        parts.kind_of_node = {0, 0, 1};
      },
      [](MachineParts& parts) {
        parts.kind_of_node = {1, 0, 0};
      },
      [&](MachineParts& parts) {
        parts.node_kinds.push_back(three);
        parts.kind_of_node = {0, 0, 1};
      },
      [&](MachineParts& parts) {
        parts.node_kinds.push_back(three);
        parts.kind_of_node = {1, 0, 0};
      },
      [](MachineParts& parts) { parts.node_kinds[0].latency_factor.pop_back(); },
      [](MachineParts& parts) { parts.node_kinds[0].bandwidth_factor.push_back(1); },
      [](MachineParts& parts) { parts.node_kinds[0].num_domains = 1; }};
  for (const auto& change : changes) EXPECT_FALSE(is_valid(change));
}

TEST(Machine, total_speed_and_checks_for_equal_speeds_or_factors_agree_with_loops_over_all_places) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    MachineParts parts =
        machine_from_text(round % 2 == 0 ? "numa:3 l3:2 core:2" : "node:2 numa:1 l3:2 core:3")
            .parts();
    for (Place& place : parts.places) place.speed = random.below(20) == 0 ? 0.5 : 1;
    for (Level& level : parts.levels) {
      if (random.below(4) == 0) level.latency_factor = 2;
      if (random.below(4) == 0) level.bandwidth_factor = 0.5;
    }
    // A level whose groups all have one place has a factor that no pair of places uses.
    const Machine machine(parts);
    double sum = 0;
    bool speeds = true, messages = true, bytes = true;
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      sum += machine.speed_of(p);
      speeds = speeds && machine.speed_of(p) == machine.speed_of(0);
      for (PlaceId q = 0; q < machine.num_places(); ++q) {
        if (p == q || machine.domain_of(p) != machine.domain_of(q)) continue;
        messages = messages && machine.message_factor(p, q) == 1;
        bytes = bytes && machine.byte_factor(p, q) == 1;
      }
    }
    EXPECT_DOUBLE_EQ(machine.total_speed(), sum);
    EXPECT_EQ(machine.has_equal_speeds(), speeds);
    EXPECT_EQ(machine.has_equal_messages_inside(), messages);
    EXPECT_EQ(machine.has_equal_bytes_inside(), bytes);
  }
}

TEST(Machine,
     message_costs_inside_a_domain_are_unequal_if_only_the_first_or_last_place_has_higher_costs) {
  for (const std::vector<PlaceId>& l3 : {std::vector<PlaceId>{0, 1, 6}, {0, 5, 6}, {0, 6}}) {
    MachineParts parts = machine_from_text("l3:1 core:6").parts();
    parts.levels[0].first_place = l3;
    parts.root_latency_factor = 2;
    parts.root_bandwidth_factor = 3;
    EXPECT_EQ(Machine(parts).has_equal_messages_inside(), l3.size() == 2);
    EXPECT_EQ(Machine(parts).has_equal_bytes_inside(), l3.size() == 2);
  }
}

TEST(Machine, finds_levels_by_name_and_the_group_and_domain_and_node_of_each_place) {
  const Machine machine = machine_from_text("rack:2 node:2 numa:3 core:2");
  EXPECT_EQ(machine.level_named("rack"), 0u);
  EXPECT_EQ(machine.level_named("core"), 3u);
  EXPECT_EQ(machine.level_named("l3"), 4u);
  for (PlaceId p = 0; p < 24; ++p) {
    EXPECT_EQ(machine.group_of(0, p), p / 12);
    EXPECT_EQ(machine.group_of(1, p), p / 6);
    EXPECT_EQ(machine.group_of(2, p), p / 2);
    EXPECT_EQ(machine.group_of(3, p), p);
    EXPECT_EQ(machine.domain_of(p), p / 2);
    EXPECT_EQ(machine.node_of_place(p), p / 6);
  }
  for (NodeId n = 0; n <= 4; ++n) EXPECT_EQ(machine.first_domain(n), 3 * n);
  for (DomainId d = 0; d <= 12; ++d) EXPECT_EQ(machine.first_place(d), 2 * d);
}

TEST(Machine, the_hop_count_is_the_number_of_tree_edges_and_network_links_on_the_route) {
  for (const char* text : {"core:5", "numa:2 l3:2 core:2", "rack:2 node:2 numa:2 core:2",
                           "torus:3x2 numa:2 core:2", "mesh:4 node:2 core:2",
                           "torus:5 node:1 numa:1 l3:2 core:1", "dragonfly:3x2 node:2 core:1"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    const auto depth = static_cast<std::uint32_t>(machine.levels().size());
    const bool is_tree = machine.network().shape == Network::Shape::tree;
    for (PlaceId a = 0; a < machine.num_places(); ++a)
      for (PlaceId b = 0; b < machine.num_places(); ++b) {
        std::uint32_t common = 0;  // number of levels on which both places are in the same group
        while (common < depth && machine.group_of(common, a) == machine.group_of(common, b))
          ++common;
        std::uint32_t expected = 2 * (depth - common);
        const NodeId node_a = machine.node_of_place(a), node_b = machine.node_of_place(b);
        if (!is_tree && node_a != node_b) {
          const auto below = depth - 1 - static_cast<std::uint32_t>(machine.level_named("node"));
          expected = 2 * below + machine.network().hops(node_a, node_b);
        }
        EXPECT_EQ(machine.hops(a, b), expected) << a << " to " << b;
        EXPECT_EQ(machine.common_level(a, b), static_cast<int>(common) - 1);
      }
  }
}

/// The numbers of hops from one node to all others, found by breadth-first search in the graph of
/// links between routers.
std::vector<std::uint32_t> searched_hops(const Network& network, std::uint32_t num_routers,
                                         std::uint32_t from) {
  const auto are_linked = [&](std::uint32_t a, std::uint32_t b) {
    if (network.shape == Network::Shape::dragonfly) {
      const std::uint32_t groups = network.dims[0], size = network.dims[1];
      const std::uint32_t group_a = a / size, group_b = b / size;
      if (group_a == group_b) return a != b;
      const auto port = [&](std::uint32_t own, std::uint32_t other) {
        return (other + 2 * groups - own - 1) % groups % size;
      };
      return a % size == port(group_a, group_b) && b % size == port(group_b, group_a);
    }
    std::uint32_t steps = 0;
    for (auto dim = network.dims.rbegin(); dim != network.dims.rend(); ++dim) {
      const std::uint32_t x = a % *dim, y = b % *dim;
      a /= *dim, b /= *dim;
      if (x == y) continue;
      const bool wraps = network.shape == Network::Shape::torus && (x + 1) % *dim == y % *dim;
      const bool wraps_back = network.shape == Network::Shape::torus && (y + 1) % *dim == x % *dim;
      steps += x + 1 == y || y + 1 == x || wraps || wraps_back ? 1 : 2;
    }
    return steps == 1;
  };
  std::vector<std::uint32_t> hops(num_routers, ~0u), queue{from};
  hops[from] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t r = 0; r < num_routers; ++r)
      if (hops[r] == ~0u && are_linked(queue[i], r)) {
        hops[r] = hops[queue[i]] + 1;
        queue.push_back(r);
      }
  return hops;
}

TEST(Network, numbers_of_hops_are_the_lengths_of_shortest_paths_in_the_graph_of_links) {
  for (const char* text : {"torus:5x3x4 core:1", "mesh:4x3x3 core:1", "torus:6 core:1",
                           "mesh:2x7 core:1", "dragonfly:5x4 core:1", "dragonfly:4x3 core:1",
                           "dragonfly:3x2 core:1", "dragonfly:1x4 core:1"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    const Network& network = machine.network();
    for (NodeId a = 0; a < machine.num_nodes(); ++a) {
      const auto expected = searched_hops(network, machine.num_nodes(), a);
      for (NodeId b = 0; b < machine.num_nodes(); ++b) {
        EXPECT_EQ(network.hops(a, b), expected[b]) << a << " to " << b;
        EXPECT_EQ(network.hops_on_routers(a, b), expected[b]);
        EXPECT_EQ(network.router_hops(a, b), expected[b]);
      }
    }
  }
}

TEST(Network,
     in_a_tree_the_finest_common_tier_of_two_nodes_determines_their_latency_factor_and_hop_count) {
  const Machine machine = machine_from_text("hall:2 rack:3 node:2 core:1 factors:30,20,10,1");
  for (NodeId a = 0; a < 12; ++a)
    for (NodeId b = 0; b < 12; ++b) {
      const int apart = a == b ? 0 : a / 2 == b / 2 ? 1 : a / 6 == b / 6 ? 2 : 3;
      EXPECT_EQ(machine.network().hops(a, b), 2u * static_cast<unsigned>(apart));
      EXPECT_EQ(machine.network().latency_factor(a, b), apart == 0 ? 1 : 10 * apart);
    }
}

TEST(Network, each_hop_after_the_first_adds_the_factor_per_hop_to_the_latency_factor) {
  const Machine machine = machine_from_text("mesh:5 node:2 core:1 factors:10,4,1 hop:0.75");
  const Network& network = machine.network();
  EXPECT_EQ(network.latency_factor(2, 2), 1);
  EXPECT_EQ(network.latency_factor(2, 3), 4);
  for (NodeId node = 2; node < 10; ++node) {
    EXPECT_DOUBLE_EQ(network.latency_factor(1, node), 10 + 0.75 * (node / 2 - 1));
    EXPECT_EQ(network.hops(1, node), node / 2 + 2);
    EXPECT_EQ(network.router_of(node), node / 2);
  }
  EXPECT_EQ(network.hops(0, 1), 2u);
  EXPECT_EQ(network.hops(3, 3), 0u);
  MachineParts parts = machine_from_text("node:3 core:1").parts();
  parts.network.shape = Network::Shape::matrix;
  parts.network.matrix_nodes = 3;
  parts.network.matrix = {1, 2, 3, 4, 1, 5, 6, 7, 1};
  const Machine matrix(parts);
  EXPECT_EQ(matrix.network().latency_factor(1, 2), 5);
  EXPECT_EQ(matrix.network().latency_factor(2, 0), 6);
  EXPECT_EQ(matrix.network().hops(0, 2), 2u);
  EXPECT_EQ(matrix.network().hops(1, 1), 0u);
}

TEST(Network, coordinates_are_stored_for_at_most_8_dimensions) {
  EXPECT_FALSE(machine_from_text("torus:2x2x1x1x1x1x1x2 core:1").network().coordinates.empty());
  const Machine machine = machine_from_text("torus:2x2x1x1x1x1x1x1x2 core:1");
  EXPECT_TRUE(machine.network().coordinates.empty());
  EXPECT_EQ(machine.network().hops(0, 7), 3u);
  EXPECT_TRUE(machine_from_text("node:4 core:1").network().coordinates.empty());
}

/// The factor of a message between two places by the definition in text.h: the entry of `factors`
/// for the first level on which the two places are in different groups.
double factor_between(const std::vector<std::uint32_t>& counts, const std::vector<double>& factors,
                      PlaceId p, PlaceId q) {
  PlaceId size = 1;
  for (const std::uint32_t count : counts) size *= count;
  for (std::size_t l = 0; l < counts.size(); ++l) {
    size /= counts[l];
    if (p / size != q / size) return factors[l];
  }
  return 0;
}

TEST(MachineText, texts_with_random_levels_and_factors_give_the_machines_that_they_describe) {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> names;
    for (const char* name : {"rack", "switch", "node", "numa", "l3", "core"})
      if (random.below(2) == 0) names.emplace_back(name);
    if (names.empty()) names.emplace_back("core");
    std::vector<std::uint32_t> counts;
    std::vector<double> factors, usual;
    std::string text, list;
    for (std::size_t l = 0; l < names.size(); ++l) {
      counts.push_back(1 + static_cast<std::uint32_t>(random.below(3)));
      factors.push_back(1 + static_cast<double>(random.below(40)) / 8);
      text += fmt::format("{}:{} ", names[l], counts[l]);
      list += fmt::format("{}{}", l == 0 ? "factors:" : ",", factors[l]);
    }
    const auto level_of = [&](const char* name) {
      return std::find(names.begin(), names.end(), name) - names.begin();
    };
    const auto depth = static_cast<std::ptrdiff_t>(names.size());
    const std::ptrdiff_t node = level_of("node") < depth ? level_of("node") + 1 : 0;
    const std::ptrdiff_t domain = level_of("numa") < depth ? level_of("numa") + 1 : node;
    for (std::ptrdiff_t l = 0; l < depth; ++l)
      usual.push_back(l < node ? 10 : l < domain ? 1.5 : 1);
    const bool is_given = round % 2 == 0;
    SCOPED_TRACE(text + list);
    const Machine machine = machine_from_text(is_given ? text + list : text);
    PlaceId places = 1, per_node = 1, per_domain = 1;
    for (std::ptrdiff_t l = 0; l < depth; ++l) {
      const std::uint32_t count = counts[static_cast<std::size_t>(l)];
      places *= count;
      if (l >= node) per_node *= count;
      if (l >= domain) per_domain *= count;
    }
    ASSERT_EQ(machine.num_places(), places);
    EXPECT_EQ(machine.num_nodes(), places / per_node);
    EXPECT_EQ(machine.num_domains(), places / per_domain);
    EXPECT_EQ(machine.parts().numa_source, is_given ? Source::given : Source::assumed);
    EXPECT_EQ(machine.parts().network_source,
              is_given && node > 0 ? Source::given : Source::assumed);
    for (PlaceId p = 0; p < places; ++p) {
      EXPECT_EQ(machine.domain_of(p), p / per_domain);
      EXPECT_EQ(machine.place(p).os_index, p);
      for (PlaceId q = 0; q < places; ++q)
        ASSERT_EQ(machine.message_factor(p, q),
                  factor_between(counts, is_given ? factors : usual, p, q))
            << p << " to " << q;
    }
  }
}

TEST(MachineText, a_short_list_of_speeds_is_repeated_and_costs_of_the_nuco_formula_are_read) {
  const Machine machine =
      machine_from_text("core:7 speeds:1,0.5,0.25 message:0.125 byte:0.0625 migrated_byte:0.5");
  for (PlaceId p = 0; p < 7; ++p)
    EXPECT_EQ(machine.speed_of(p), p % 3 == 0 ? 1 : p % 3 == 1 ? 0.5 : 0.25);
  EXPECT_EQ(machine.costs().seconds_per_message, 0.125);
  EXPECT_EQ(machine.costs().seconds_per_byte, 0.0625);
  EXPECT_EQ(machine.costs().seconds_per_migrated_byte, 0.5);
  EXPECT_EQ(machine.parts().name,
            "core:7 speeds:1,0.5,0.25 message:0.125 byte:0.0625 migrated_byte:0.5");
}

TEST(MachineText,
     each_hop_after_the_first_adds_5_percent_of_the_network_factor_unless_the_text_sets_hop) {
  EXPECT_DOUBLE_EQ(machine_from_text("mesh:4 core:1").network().latency_factor(0, 3), 11);
  EXPECT_DOUBLE_EQ(machine_from_text("mesh:4 core:1 factors:20,1").network().latency_factor(0, 3),
                   22);
  EXPECT_DOUBLE_EQ(machine_from_text("mesh:4 core:1 hop:3").network().latency_factor(0, 3), 16);
  EXPECT_DOUBLE_EQ(machine_from_text("mesh:4 core:1 hop:0").network().latency_factor(0, 3), 10);
}

TEST(MachineText,
     the_first_of_the_levels_numa_package_pack_socket_node_that_exists_gives_the_memory_domains) {
  const std::pair<const char*, std::uint32_t> cases[] = {
      {"package:2 numa:3 core:1", 6}, {"package:2 socket:3 core:1", 2}, {"pack:2 l3:2 core:1", 2},
      {"node:2 socket:3 core:1", 6},  {"node:2 l3:3 core:1", 2},        {"l3:3 core:1", 1}};
  for (const auto& [text, domains] : cases)
    EXPECT_EQ(machine_from_text(text).num_domains(), domains) << text;
}

TEST(MachineText, a_level_whose_name_differs_from_a_setting_in_two_letters_is_refused) {
  for (const char* word :
       {"ltncy", "latencie", "fctor", "overhea", "upliks", "sharednetwrk", "mesh_"})
    EXPECT_THROW(machine_from_text(std::string("core:2 ") + word + ":2"), Error) << word;
  for (const char* word : {"ltnc", "fct", "book", "drawer", "rack_", "Die2"})
    EXPECT_EQ(machine_from_text(std::string(word) + ":2 core:2").num_places(), 4u) << word;
}

TEST(MachineText, refuses_words_without_a_name_or_a_value_or_with_unexpected_characters) {
  for (const char* text : {":2",
                           "core:",
                           "core",
                           "co-re:2",
                           "core:2 :1",
                           "core:2,3",
                           "core:1.5",
                           "core: 2",
                           "l3:2 torus:2x2",
                           "torus:2x core:1",
                           "torus:0 core:1",
                           "dragonfly:4 core:1",
                           "dragonfly:2x2x2 core:1",
                           "core:2 speeds:1,",
                           "core:2 speeds:-1",
                           "core:2 hop:-1",
                           "core:2 cards:0",
                           "core:2 cards:1.5",
                           "core:2 factors:1,2",
                           "core:2 core:2",
                           "node:2 core:2 factors:5",
                           "torus:2 node:2 core:2 factors:5,1"})
    EXPECT_THROW(machine_from_text(text), Error) << text;
  EXPECT_EQ(machine_from_text("  node:2   core:3 ").num_places(), 6u);
}

TEST(MachineText, counts_and_their_products_are_limited) {
  EXPECT_EQ(machine_from_text("core:5", 5).num_places(), 5u);
  EXPECT_THROW(machine_from_text("core:6", 5), Error);
  EXPECT_THROW(machine_from_text("l3:2 core:3", 5), Error);
  EXPECT_THROW(machine_from_text("core:67108865"), Error);
  EXPECT_THROW(machine_from_text("node:8192 core:8193"), Error);
  EXPECT_THROW(machine_from_text("torus:8192x8193 core:1"), Error);
  EXPECT_EQ(machine_from_text("numa:2048").num_domains(), 2048u);
  EXPECT_THROW(machine_from_text("numa:2049"), Error);
  EXPECT_THROW(flat_machine(0), Error);
  EXPECT_EQ(flat_machine(3).num_places(), 3u);
  EXPECT_EQ(flat_machine(3).num_domains(), 1u);
}

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

}  // namespace
}  // namespace poise
