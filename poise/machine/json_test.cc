// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/text_of_error.h"

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

void expect_same(const Machine& a, const Machine& b) {
  ASSERT_EQ(a.num_places(), b.num_places());
  ASSERT_EQ(a.num_domains(), b.num_domains());
  ASSERT_EQ(a.num_nodes(), b.num_nodes());
  ASSERT_EQ(a.levels().size(), b.levels().size());
  for (std::size_t l = 0; l < a.levels().size(); ++l) {
    EXPECT_EQ(a.levels()[l].name, b.levels()[l].name);
    EXPECT_EQ(a.levels()[l].also, b.levels()[l].also);
    EXPECT_EQ(a.levels()[l].first_place, b.levels()[l].first_place);
  }
  const std::uint32_t step = 1 + a.num_places() / 64;
  for (PlaceId p = 0; p < a.num_places(); p += step)
    for (PlaceId q = 0; q < a.num_places(); q += step) {
      ASSERT_EQ(a.message_factor(p, q), b.message_factor(p, q)) << p << " to " << q;
      ASSERT_EQ(a.byte_factor(p, q), b.byte_factor(p, q));
      ASSERT_EQ(a.hops(p, q), b.hops(p, q));
    }
  EXPECT_EQ(machine_to_json(a), machine_to_json(b));
}

Machine read(std::string_view text) { return machine_from_json(text, "file.json"); }

TEST(MachineJson, machines_are_unchanged_after_writing_them_to_json_and_reading_them_back) {
  for (const char* text :
       {"core:1", "node:20 numa:2 core:2 factors:10,1.5,1", "rack:2 node:4 core:2 factors:20,10,1",
        "torus:8x8x8 numa:4 core:8 factors:10,1.5,1 hop:0.5", "torus:4x4 node:2 core:2",
        "mesh:3x5 core:2", "dragonfly:9x4 node:2 core:2", "package:4 l2:2 core:2",
        "numa:2 core:4 speeds:1,1,0.5,0.25 message:1e-6 byte:1e-10"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    expect_same(machine, read(machine_to_json(machine)));
  }
}

TEST(MachineJson, twenty_equal_nodes_share_one_description_in_the_file) {
  const std::string json = machine_to_json(machine_from_text("node:20 numa:2 core:16"));
  EXPECT_LT(json.size(), 1000u) << json;
}

TEST(MachineJson, sizes_of_unequal_groups_may_be_written_with_repetition_such_as_2_x_4) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [
      {"name": "node", "count": 2}, {"name": "l2", "count": 4},
      {"name": "core", "count": ["2 x 1", "2 x 4"]}],
      "speeds": ["2 x 1", "8 x 0.6"], "os_index": ["0-9"]})");
  EXPECT_EQ(machine.num_places(), 20u);
  EXPECT_EQ(machine.speed_of(12), 0.6);
  EXPECT_EQ(machine.place(12).os_index, 2u);
  EXPECT_EQ(machine.levels()[1].first_place,
            (std::vector<PlaceId>{0, 1, 2, 6, 10, 11, 12, 16, 20}));
  expect_same(machine, read(machine_to_json(machine)));
}

TEST(MachineJson, the_nodes_of_a_job_may_be_anywhere_on_a_torus) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [{"name": "node", "count": 4}],
      "network": {"shape": "torus", "dims": [8], "nodes_per_router": 2, "latency_factor": 10,
                  "factor_per_hop": 1, "same_router_factor": 5, "routers": [0, 3]}})");
  EXPECT_EQ(machine.message_factor(0, 1), 5);
  EXPECT_EQ(machine.message_factor(0, 2), 12);
  expect_same(machine, read(machine_to_json(machine)));
}

TEST(MachineJson, a_memory_domain_need_not_be_a_level_of_the_machine) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [{"name": "core", "count": 6}],
      "domains": [2, 4], "numa": {"latency_factor": [[1, 2], [3, 1]]}})");
  EXPECT_EQ(machine.num_domains(), 2u);
  EXPECT_EQ(machine.latency_factor(1, 0), 3);
  expect_same(machine, read(machine_to_json(machine)));
}

TEST(MachineJson, errors_name_the_file_and_the_json_key_that_is_wrong) {
  const auto error_of = [](std::string_view text) { return text_of_error([&] { read(text); }); };
  const std::string head = R"({"poise_machine": 1, "levels": [{"name": "numa", "count": 2},
      {"name": "core", "count": 2}], )";
  const std::pair<std::string, const char*> cases[] = {
      {"", "file.json: invalid JSON"},
      {"{\"poise_machine\": 1,", "file.json: invalid JSON: syntax error at byte 21"},
      {"[1e999]", "file.json: invalid JSON"},
      {"[]", "the machine is not a JSON object"},
      {"{}", "lacks \"poise_machine\""},
      {R"({"poise_machine": 2})", "poise_machine must be 1"},
      {R"({"poise_machine": 1, "levels": []})", "levels is empty"},
      {R"({"poise_machine": 1, "levels": [{"name": "core", "count": 0}]})", "levels[0].count"},
      {R"({"poise_machine": 1, "levels": [{"name": "core", "count": 1e9}]})", "levels[0].count"},
      {R"({"poise_machine": 1, "levels": [{"name": "core", "count": -1}]})", "levels[0].count"},
      {R"({"poise_machine": 1, "levels": [{"name": "a", "count": 3}, {"name": "b", "count": [1, 2]}]})",
       "levels[1].count has 2 numbers, but 3 are needed"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2]]}})", "numa.latency_factor[1]"},
      {head + R"("numa": {"latency_factor": [[1, -2], [2, 1]]}})", "numa.latency_factor[0][1]"},
      {head + R"("numa": {"latency_factor": [[2, 2], [2, 1]]}})", "must be 1"},
      {head + R"("numa": {"latency_factor": [[1]]}})",
       "file.json: machine: node 0 has 2 memory domains"},
      {head + R"("name": "a", "name": "b"})",
       "file.json: the key \"name\" is given twice in one JSON object"},
      {head + R"("name": "a\u001b[31m"})", "name contains a control character"},
      {R"({"poise_machine": 1, "levels": [{"name": "", "count": 2}]})",
       "levels[0] has an empty name"},
      {head + R"("num": 1})", "did you mean \"numa\""},
      {head + R"("domains": "l3"})", "domains is \"l3\""},
      {head + R"("domains": [3]})", "domains must list how many places"},
      {head + R"("summary": {"places": 5}})",
       "summary.places is 5; it must be 4, the number of places that the other JSON keys define"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "speeds": ["9 x 1"]})", "speeds[0]"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "speeds": 0})", "speed 0"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "network": {"shape": "torus"}})",
       "network lacks \"dims\""},
      {head +
           R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "network": {"shape": "torus", "dims": [0]}})",
       "the torus network has invalid dimensions"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]], "source": "guessed"}})",
       "numa.source"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "os_index": [0, 1, 2, 1e12]})",
       "os_index"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(error_of(text).find(expected), std::string::npos) << text << "\n" << error_of(text);
}

TEST(MachineJson, json_text_that_is_cut_off_at_any_byte_is_refused) {
  const std::string json = machine_to_json(machine_from_text("torus:4x4 node:2 numa:2 core:2"));
  for (std::size_t length = 0; length + 2 < json.size(); ++length)
    EXPECT_THROW(read(json.substr(0, length)), Error) << length;
}

TEST(MachineJson, deep_nesting_is_an_error_not_a_crash) {
  EXPECT_THROW(read(std::string(200000, '[')), Error);
  EXPECT_THROW(read(std::string(200000, '[') + std::string(200000, ']')), Error);
}

/// A machine description with all keys and with different numbers everywhere. The first of the
/// three nodes has two memory domains, the others have one each. The domains have 1, 2, 3 and 1
/// places.
constexpr const char* kWhole = R"({"poise_machine": 1, "name": "whole", "origin": "a pläce",
    "assumed": ["this", "that"], "processor": "cpu",
    "summary": {"nodes": 3, "domains": 4, "places": 7},
    "levels": [{"name": "rack", "count": 2}, {"name": "node", "count": ["1-2"]},
               {"name": "numa", "count": [2, 1, 1], "also": "package l3"},
               {"name": "core", "count": ["1-3", 1], "latency_factor": 1.125,
                "bandwidth_factor": 1.375}],
    "domains": "numa",
    "cache_source": "measured",
    "numa": {"source": "firmware",
             "kinds": [{"latency_factor": [[1, 2], [3, 1]], "bandwidth_factor": [[1, 4], [5, 1]]},
                       {"latency_factor": [[1]]}],
             "kind_of_node": [0, "2 x 1"]},
    "network": {"source": "measured", "shape": "tree", "latency_factor": 9, "bandwidth_factor": 7.5,
                "tiers": [{"nodes_per_group": [1, 2], "latency_factor": 6}]},
    "root": {"latency_factor": 1.25, "bandwidth_factor": 2},
    "costs": {"seconds_per_message": 0.01, "seconds_per_byte": 0.02,
              "seconds_per_migrated_byte": 0.03, "seconds_per_migrated_task": 0.04,
              "inside": {"send_s": 0.05, "receive_s": 0.06, "copy_s_per_byte": 0.07,
                         "latency_s": 0.08, "bus_crossings": 3},
              "network": {"send_s": 0.11, "receive_s": 0.12, "copy_s_per_byte": 0.13,
                          "latency_s": 0.14, "bus_crossings": 5},
              "bus_bytes_per_s": 1000, "card_bytes_per_s": 2000, "card_s_per_message": 0.15,
              "cards": 3, "uplink_bytes_per_s": [3000, 4000], "shared_network_bytes_per_s": 1},
    "speeds": [1, "2 x 0.5", 1, 2, 1, 0.25], "speed_source": "firmware",
    "os_index": ["4-6", 0, 4294967295, 1, 9], "threads": [3, "6 x 2"], "numa_index": [1, 0, 3, 2],
    "memory_bytes": [100, 200, 300, 9007199254740992],
    "caches": [{"name": "l3", "bytes": 11, "count": 4, "line_bytes": 64},
               {"name": "l2", "bytes": 12, "count": 7, "line_bytes": 32}],
    "other_memory": [{"kind": "HBM", "os_index": 8, "bytes": 13}, {"os_index": 9, "bytes": 14}],
    "measurement": {"host": "h", "latency_ns": [[2, 1, 3], [5, 4, 6]],
                    "gigabytes_per_s": [[8, 7, 9], [11, 10, 12]],
                    "levels": [{"level": "numa", "one_way_ns": [14, 13, 15]},
                               {"level": "core", "one_way_ns": [17, 16, 18]}],
                    "network": [{"from": "a", "to": "b", "latency_ns": [20, 19, 21],
                                 "fit_latency_ns": 22, "fit_bytes_per_s": 23},
                                {"from": "b", "to": "c", "latency_ns": [25, 24, 26],
                                 "fit_latency_ns": 27, "fit_bytes_per_s": 28}]}})";

using Numbers = std::vector<double>;
using Indexes = std::vector<std::uint32_t>;

Numbers numbers_of(const TransportCosts& costs) {
  return {costs.send_s, costs.receive_s, costs.copy_s_per_byte, costs.latency_s,
          costs.bus_crossings};
}

Numbers numbers_of(const std::vector<Spread>& spreads) {
  Numbers numbers;
  for (const Spread& spread : spreads)
    numbers.insert(numbers.end(), {spread.median, spread.low, spread.high});
  return numbers;
}

/// Checks everything except costs and facts.
void expect_whole_structure(const Machine& machine) {
  const MachineParts& parts = machine.parts();
  EXPECT_EQ(parts.name, "whole");
  ASSERT_EQ(parts.levels.size(), 4u);
  const std::vector<PlaceId> first_places[] = {
      {0, 3, 7}, {0, 3, 6, 7}, {0, 1, 3, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}};
  const char* const names[] = {"rack", "node", "numa", "core"};
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_EQ(parts.levels[l].name, names[l]);
    EXPECT_EQ(parts.levels[l].first_place, first_places[l]);
    EXPECT_EQ(parts.levels[l].also, l == 2 ? "package l3" : "");
    EXPECT_EQ(parts.levels[l].latency_factor, l == 3 ? 1.125 : 1);
    EXPECT_EQ(parts.levels[l].bandwidth_factor, l == 3 ? 1.375 : 1);
  }
  const Indexes domains{0, 1, 1, 2, 2, 2, 3}, os_indexes{4, 5, 6, 0, 4294967295, 1, 9};
  const Numbers speeds{1, 0.5, 0.5, 1, 2, 1, 0.25};
  for (PlaceId p = 0; p < 7; ++p) {
    EXPECT_EQ(machine.domain_of(p), domains[p]);
    EXPECT_EQ(machine.place(p).os_index, os_indexes[p]);
    EXPECT_EQ(machine.speed_of(p), speeds[p]);
  }
  ASSERT_EQ(parts.node_kinds.size(), 2u);
  EXPECT_EQ(parts.node_kinds[0].latency_factor, (Numbers{1, 2, 3, 1}));
  EXPECT_EQ(parts.node_kinds[0].bandwidth_factor, (Numbers{1, 4, 5, 1}));
  EXPECT_EQ(parts.node_kinds[1].latency_factor, Numbers{1});
  EXPECT_EQ(parts.node_kinds[1].bandwidth_factor, Numbers{1});
  EXPECT_EQ(parts.kind_of_node, (Indexes{0, 1, 1}));
  EXPECT_EQ(parts.network.shape, Network::Shape::tree);
  EXPECT_EQ(parts.network.factor, 9);
  EXPECT_EQ(parts.network.bandwidth_factor, 7.5);
  ASSERT_EQ(parts.network.tiers.size(), 1u);
  EXPECT_EQ(parts.network.tiers[0].group_of_node, (Indexes{0, 1, 1}));
  EXPECT_EQ(parts.network.tiers[0].latency_factor, 6);
  EXPECT_EQ(parts.root_latency_factor, 1.25);
  EXPECT_EQ(parts.root_bandwidth_factor, 2);
  EXPECT_EQ(parts.numa_source, Source::firmware);
  EXPECT_EQ(parts.cache_source, Source::measured);
  EXPECT_EQ(parts.network_source, Source::measured);
  EXPECT_EQ(parts.speed_source, Source::firmware);
}

void expect_whole_costs(const CostModel& costs) {
  EXPECT_EQ(costs.seconds_per_message, 0.01);
  EXPECT_EQ(costs.seconds_per_byte, 0.02);
  EXPECT_EQ(costs.seconds_per_migrated_byte, 0.03);
  EXPECT_EQ(costs.seconds_per_migrated_task, 0.04);
  EXPECT_EQ(numbers_of(costs.inside), (Numbers{0.05, 0.06, 0.07, 0.08, 3}));
  EXPECT_EQ(numbers_of(costs.network), (Numbers{0.11, 0.12, 0.13, 0.14, 5}));
  EXPECT_EQ(costs.bus_bytes_per_s, 1000);
  EXPECT_EQ(costs.card_bytes_per_s, 2000);
  EXPECT_EQ(costs.card_s_per_message, 0.15);
  EXPECT_EQ(costs.cards, 3u);
  EXPECT_EQ(costs.uplink_bytes_per_s, (Numbers{3000, 4000}));
  EXPECT_EQ(costs.shared_network_bytes_per_s, 1);
}

void expect_whole_facts(const Facts& facts) {
  EXPECT_EQ(facts.origin, "a pläce");
  EXPECT_EQ(facts.assumed, (std::vector<std::string>{"this", "that"}));
  EXPECT_EQ(facts.processor, "cpu");
  EXPECT_EQ(facts.threads, (Indexes{3, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(facts.numa_index, (Indexes{1, 0, 3, 2}));
  EXPECT_EQ(facts.memory_bytes, (std::vector<std::uint64_t>{100, 200, 300, 9007199254740992}));
  ASSERT_EQ(facts.caches.size(), 2u);
  const Cache caches[] = {{"l3", 11, 4, 64}, {"l2", 12, 7, 32}};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(facts.caches[i].name, caches[i].name);
    EXPECT_EQ(facts.caches[i].bytes, caches[i].bytes);
    EXPECT_EQ(facts.caches[i].count, caches[i].count);
    EXPECT_EQ(facts.caches[i].line_bytes, caches[i].line_bytes);
  }
  ASSERT_EQ(facts.other_memory.size(), 2u);
  const Memory memories[] = {{"HBM", 8, 13}, {"", 9, 14}};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(facts.other_memory[i].kind, memories[i].kind);
    EXPECT_EQ(facts.other_memory[i].os_index, memories[i].os_index);
    EXPECT_EQ(facts.other_memory[i].bytes, memories[i].bytes);
  }
  const Measurement& measured = facts.measurement;
  EXPECT_EQ(measured.host, "h");
  EXPECT_EQ(numbers_of(measured.latency_ns), (Numbers{2, 1, 3, 5, 4, 6}));
  EXPECT_EQ(numbers_of(measured.gigabytes_per_s), (Numbers{8, 7, 9, 11, 10, 12}));
  ASSERT_EQ(measured.levels.size(), 2u);
  EXPECT_EQ(measured.levels[0].level, "numa");
  EXPECT_EQ(measured.levels[1].level, "core");
  EXPECT_EQ(numbers_of({measured.levels[0].one_way_ns, measured.levels[1].one_way_ns}),
            (Numbers{14, 13, 15, 17, 16, 18}));
  ASSERT_EQ(measured.network.size(), 2u);
  EXPECT_EQ(measured.network[0].from + measured.network[0].to, "ab");
  EXPECT_EQ(measured.network[1].from + measured.network[1].to, "bc");
  EXPECT_EQ(numbers_of({measured.network[0].latency_ns, measured.network[1].latency_ns}),
            (Numbers{20, 19, 21, 25, 24, 26}));
  EXPECT_EQ(measured.network[0].fit_latency_ns, 22);
  EXPECT_EQ(measured.network[1].fit_latency_ns, 27);
  EXPECT_EQ(measured.network[0].fit_bytes_per_s, 23);
  EXPECT_EQ(measured.network[1].fit_bytes_per_s, 28);
}

TEST(MachineJson, the_value_of_every_key_is_kept_when_it_is_read_and_written_and_read_again) {
  const Machine first = read(kWhole), second = read(machine_to_json(first));
  EXPECT_NE(machine_to_json(first).find("pläce"), std::string::npos) << "readable in any language";
  for (const Machine* machine : {&first, &second}) {
    SCOPED_TRACE(machine == &first ? "read once" : "written and read again");
    expect_whole_structure(*machine);
    expect_whole_costs(machine->costs());
    expect_whole_facts(machine->parts().facts);
  }
}

TEST(MachineJson, the_router_of_each_node_is_kept_whether_or_not_nodes_share_routers_evenly) {
  const auto routers_of = [](const Machine& machine) { return machine.network().router_of_node; };
  const auto torus = [&](int nodes, const char* routers) {
    return read(fmt::format(
        R"({{"poise_machine": 1, "levels": [{{"name": "node", "count": {}}}], "network": {{
            "shape": "torus", "dims": [2, 4], "nodes_per_router": 2, "factor_per_hop": 0.5, {}}}}})",
        nodes, routers));
  };
  const std::tuple<int, const char*, Indexes, bool> cases[] = {
      {4, R"("routers": [3, 1])", {3, 3, 1, 1}, true},
      {5, R"("routers": [0, 3, 1])", {0, 0, 3, 3, 1}, false},
      {6, R"("routers": [6, 2, 7])", {6, 6, 2, 2, 7, 7}, true},
      {4, R"("router_of_node": [0, 1, 3, 3])", {0, 1, 3, 3}, false},
      {4, R"("router_of_node": [5, 5, 3, 0])", {5, 5, 3, 0}, false},
      {4, R"("router_of_node": ["2 x 5", "2 x 4"])", {5, 5, 4, 4}, true}};
  for (const auto& [nodes, text, expected, is_even] : cases) {
    SCOPED_TRACE(text);
    const Machine machine = torus(nodes, text);
    const std::string json = machine_to_json(machine);
    EXPECT_EQ(routers_of(machine), expected);
    EXPECT_EQ(routers_of(read(json)), expected);
    EXPECT_EQ(json.find("\"routers\"") != json.npos, is_even);
    EXPECT_EQ(json.find("\"router_of_node\"") != json.npos, !is_even);
    EXPECT_EQ(read(json).network().dims, (Indexes{2, 4}));
    EXPECT_EQ(read(json).network().factor_per_hop, 0.5);
  }
}

TEST(MachineJson, a_network_may_be_a_matrix_of_factors_between_nodes) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [{"name": "node", "count": 3}],
      "network": {"shape": "matrix", "matrix": [[1, 2, 3], [4, 1, 5], [6, 7.5, 1]]}})");
  EXPECT_EQ(machine.network().latency_factor(0, 2), 3);
  EXPECT_EQ(machine.network().latency_factor(2, 1), 7.5);
  EXPECT_EQ(machine.parts().network_source, Source::given);
  expect_same(machine, read(machine_to_json(machine)));
}

TEST(MachineJson, memory_domains_are_given_as_a_level_or_the_whole_machine_or_a_list_of_sizes) {
  const std::string three = R"(, "numa": {"latency_factor": [[1, 2, 3], [4, 1, 5], [6, 7, 1]]})";
  const auto starts = [](const std::string& levels, const std::string& keys) {
    const Machine machine = read(R"({"poise_machine": 1, "levels": [)" + levels + "]" + keys + "}");
    const Machine again = read(machine_to_json(machine));
    std::vector<PlaceId> first;
    for (DomainId d = 0; d <= machine.num_domains(); ++d) {
      first.push_back(machine.first_place(d));
      EXPECT_EQ(first.back(), again.first_place(d));
    }
    return first;
  };
  const std::string cores = R"({"name": "core", "count": 6})";
  using Starts = std::vector<PlaceId>;
  EXPECT_EQ(starts(cores, R"(, "domains": [1, 2, 3])" + three), (Starts{0, 1, 3, 6}));
  EXPECT_EQ(starts(cores, R"(, "domains": [2])" + three), (Starts{0, 2, 4, 6}));
  EXPECT_EQ(starts(cores, R"(, "domains": [6])"), (Starts{0, 6}));
  EXPECT_EQ(starts(cores, R"(, "domains": "machine")"), (Starts{0, 6}));
  EXPECT_EQ(starts(cores, ""), (Starts{0, 6}));
  EXPECT_EQ(starts(R"({"name": "l3", "count": 3}, {"name": "core", "count": 2})",
                   R"(, "domains": "l3")" + three),
            (Starts{0, 2, 4, 6}));
  for (const char* domains : {"[0]", "[]", "[1.5, 4.5]", "[7]", "[4]"}) try {
      starts(cores, std::string(", \"domains\": ") + domains);
      ADD_FAILURE() << domains;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("must list how many places"), std::string::npos)
          << domains << "\n"
          << error.what();
    }
}

TEST(MachineJson, invalid_or_contradictory_values_are_refused_with_the_reason) {
  const auto error_of = [](const std::string& keys) {
    return text_of_error([&] {
      read(R"({"poise_machine": 1, "levels": [{"name": "node", "count": 3},
              {"name": "numa", "count": 2}, {"name": "core", "count": 2}], )" +
           keys + "}");
    });
  };
  const auto numa = [](const std::string& keys) { return "\"numa\": {" + keys + "}"; };
  const std::string fine = numa(R"("latency_factor": [[1, 2], [3, 1]])") + ", ";
  const auto network = [&](const std::string& keys) {
    return fine + "\"network\": {" + keys + "}";
  };
  const auto torus = [&](const std::string& keys) {
    return network(R"("shape": "torus", "dims": [4], )" + keys);
  };
  const auto tiers = [&](const std::string& sizes) {
    return network(R"("tiers": [{"nodes_per_group": )" + sizes + R"(, "latency_factor": 2}])");
  };
  EXPECT_EQ(error_of(fine + R"("name": "fine")"), "no error");
  const std::pair<std::string, const char*> cases[] = {
      {R"("name": "x")", "6 memory domains, but the key \"numa\" is missing"},
      {numa(R"("latency_factor": [])"), "has 0 rows; a square matrix"},
      {numa(R"("latency_factor": [[1, 2], [3, 1]], "bandwidth_factor": [[1]])"),
       "must have the same size as latency_factor"},
      {numa(R"("latency_factor": [[1, 2], [3, 2]])"), "latency_factor[1][1] is on the diagonal"},
      {numa(R"("kinds": [{"latency_factor": [[1, 2], [3, 1]]}])"), "lacks \"kind_of_node\""},
      {numa(R"("kinds": [{"latency_factor": [[1, 2], [3, 1]]}], "kind_of_node": [0, 0, 1])"),
       "node 2 has kind 1"},
      {network(R"("shape": "ring")"), "\"ring\"; it must be tree, matrix"},
      {network(R"("shape": "matrix", "matrix": [[1, 2], [3, 1]])"),
       "matrix of network factors is not square: with 3 rows it must have 9 numbers"},
      {tiers("[1.5]"), "must list group sizes that add up to 3 nodes"},
      {tiers("[2]"), "must list group sizes"},
      {tiers("[]"), "must list group sizes"},
      {tiers("[0]"), "must list group sizes"},
      {tiers("[1, 1, 1]"), "no error"},
      {tiers("[3]"), "no error"},
      {tiers("1"), "no error"},
      {torus(R"("nodes_per_router": 0)"), "has nodes_per_router 0"},
      {torus(R"("routers": [0, 1, 2], "router_of_node": [0, 1, 2])"), "exclude each other"},
      {torus(R"("routers": [0, 1, 4])"), "router 4 does not exist"},
      {torus(R"("routers": [0, 1])"), "has 2 numbers, but 3 are needed"},
      {torus(R"("routers": [0, 3, 1])"), "no error"},
      {fine + R"("os_index": [1.5])", "contains 1.5; every entry must be a whole number"},
      {fine + R"("os_index": ["-1"])", "contains -1; every entry must be a whole number"},
      {fine + R"("os_index": [4294967296])", "contains 4294967296"},
      {fine + R"("os_index": [4294967295])", "no error"},
      {fine + R"("threads": [0])", "no error"},
      {fine + R"("speeds": [1, 2, 3, 4, 5])", "has 5 numbers, but 12 are needed"},
      {fine + R"("speeds": ["13 x 1"])", "speeds[0] is \"13 x 1\""},
      {fine + R"("speeds": ["12 x 1", 1])", "has 13 numbers; at most 12 are allowed"},
      {fine + R"("speeds": [1, "12 x 1"])", "speeds[1] is \"12 x 1\""},
      {fine + R"("measurement": {"latency_ns": [[1, 2]]})", "latency_ns[0] is not of the form"},
      {fine + R"("measurement": {"latency_ns": [[1, 2, 3, 4]]})", "is not of the form"},
      {fine + R"("summary": {"nodes": 4})", "summary.nodes is 4"},
      {fine + R"("summary": {"domains": 5})", "summary.domains is 5"},
      {fine + R"("summary": {"nodes": 3, "domains": 6, "places": 12})", "no error"},
      {fine + R"("cache_source": "guess")", "cache_source is \"guess\"; it must be one of"}};
  for (const auto& [keys, expected] : cases)
    EXPECT_NE(error_of(keys).find(expected), std::string::npos) << keys << "\n" << error_of(keys);
}

TEST(MachineJson, levels_need_different_names_and_must_not_have_too_many_groups_or_places) {
  const auto with_levels = [](const std::string& levels, std::uint32_t max_places) {
    return machine_from_json(R"({"poise_machine": 1, "levels": [)" + levels + "]}", "x.json",
                             max_places);
  };
  const auto level = [](const char* name, std::uint64_t count) {
    return fmt::format(R"({{"name": "{}", "count": {}}})", name, count);
  };
  const std::string two = level("l3", 2) + "," + level("core", 3);
  EXPECT_EQ(with_levels(two, 6).num_places(), 6u);
  EXPECT_THROW(with_levels(two, 5), Error);
  EXPECT_THROW(with_levels(two + "," + level("l3", 1), 9), Error);
  EXPECT_THROW(with_levels(two + "," + level("core", 1), 9), Error);
  std::string many = level("a", kMaxPlaces);
  for (const char* name : {"b", "c", "d", "e"}) many += "," + level(name, 1);
  EXPECT_THROW(with_levels(many, kMaxPlaces), Error);
}

TEST(MachineJson, numbers_that_have_their_default_value_are_not_written) {
  const std::string plain =
      machine_to_json(machine_from_text("node:2 numa:2 core:2 factors:8,2,1"));
  for (const char* key : {"bandwidth_factor", "os_index", "speeds", "root", "also", "tiers",
                          "shared_network_bytes_per_s", "uplink_bytes_per_s", "processor", "origin",
                          "measurement", "memory_bytes", "assumed"})
    EXPECT_EQ(plain.find(fmt::format("\"{}\"", key)), plain.npos) << key << "\n" << plain;
  EXPECT_NE(plain.find("\"latency_factor\":8}"), plain.npos) << plain;
  EXPECT_NE(plain.find("[[1,2],[2,1]]"), plain.npos) << plain;
}

TEST(MachineJson,
     the_root_factors_and_the_common_speed_of_all_places_are_unchanged_after_writing_and_reading) {
  for (const double latency : {1.0, 2.0, 3.5})
    for (const double bandwidth : {1.0, 2.0, 3.5})
      for (const double speed : {1.0, 2.0, 0.5}) {
        MachineParts parts = machine_from_text("core:3").parts();
        parts.root_latency_factor = latency;
        parts.root_bandwidth_factor = bandwidth;
        for (Place& place : parts.places) place.speed = speed;
        const Machine machine(parts), back = read(machine_to_json(machine));
        EXPECT_EQ(back.message_factor(0, 1), latency);
        EXPECT_EQ(back.byte_factor(0, 1), bandwidth);
        for (PlaceId p = 0; p < 3; ++p) EXPECT_EQ(back.speed_of(p), speed);
      }
}

TEST(MachineJson,
     an_array_is_written_on_one_line_if_it_and_its_indent_have_at_most_100_characters) {
  for (const std::size_t length : {93u, 94u, 95u, 96u}) {
    MachineParts parts = machine_from_text("core:1").parts();
    const std::string text(length, 'x');
    parts.facts.assumed = {text};
    const std::string json = machine_to_json(Machine(parts));
    // An array fits on one line of 100 characters if its text has at most 94: two quotes, two
    // brackets and an indent of two are added.
    const std::string line = length <= 94 ? "\"assumed\": [\"" + text + "\"],\n"
                                          : "\"assumed\": [\n    \"" + text + "\"\n  ],\n";
    EXPECT_NE(json.find("\n  " + line), json.npos) << json;
  }
  EXPECT_TRUE(machine_to_json(Machine()).starts_with("{\n  \"poise_machine\": 1,\n  \"name\": "));
  EXPECT_TRUE(machine_to_json(Machine()).ends_with("}\n}\n"));
}

}  // namespace
}  // namespace poise
