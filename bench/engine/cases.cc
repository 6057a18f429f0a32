// SPDX-License-Identifier: BSD-3-Clause
// Prints programs for engine_bench.py as one JSON object per line, with the times that Poise
// predicts. An object holds what another simulator needs: places with their work, messages with
// their costs at both ends, and the resources on their routes.
#include <array>
#include <cstdio>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/simulate/iteration.h"
#include "poise/workload/generate.h"

namespace {

using Json = nlohmann::json;
using namespace poise;

// On these machines a network card needs no gap between two messages (LogGP's g is 0), because
// SimGrid's links have no such gap.
struct Network {
  const char* machine;
  Routing routing = {};
};
constexpr std::array kMachines{
    Network{"node:8 core:2 factors:10,1 bandwidth:1.25e8 bus:0 gap:0 overhead:5e-6 latency:3e-6 "
            "copy:0"},
    Network{"node:4 numa:2 core:4 bandwidth:1.25e9 bus:1e10 gap:0 overhead:1e-6"},
    Network{"rack:3 node:4 core:2 factors:20,10,1 bandwidth:1.25e8 uplink:1.5e8 bus:0 gap:0 "
            "latency:1e-6"},
    Network{"node:10 core:2 bandwidth:0 shared_network:1.25e8 bus:1e10 gap:0 overhead:2e-6"},
    Network{"numa:4 core:4 factors:2,1 bus:8e9"},
    // None of the machines below uses adaptive routing, which chooses routes while messages are in
    // flight.
    Network{"torus:4x3 core:2 hop:1 bandwidth:1.25e8 bus:0 gap:0", {{}, 5e7}},
    Network{"torus:3x3x2 core:2 hop:1 bandwidth:1.25e8 bus:0 gap:0", {RoutingPolicy::random, 5e7}},
    Network{"mesh:4x3 node:2 core:2 bandwidth:1.25e8 bus:0 gap:0", {RoutingPolicy::random, 5e7}},
    Network{"dragonfly:5x2 core:2 bandwidth:1.25e8 bus:0 gap:0", {RoutingPolicy::minimal, 5e7}},
    Network{"dragonfly:5x2 core:2 bandwidth:1.25e8 bus:0 gap:0", {RoutingPolicy::random, 5e7}},
    Network{"rack:3 node:4 core:2 bandwidth:1.25e8 uplink:2.5e8 bus:0 gap:0",
            {RoutingPolicy::minimal}},
    Network{"rack:3 node:4 core:2 bandwidth:1.25e8 uplink:2.5e8 bus:0 gap:0",
            {RoutingPolicy::random}}};
constexpr std::array kPrograms{"random", "stencil2d", "geometric", "kneighbor"};

struct Case {
  std::string name;
  Machine machine;
  Workload workload;
  Placement placement;
  EngineOptions options;
};

Traffic traffic_of(const Case& made) {
  return message_traffic(made.machine, made.workload, made.machine.costs(), made.placement,
                         made.options.piece_bytes, 1, made.options.routing);
}

/// Scales the loads so that the busiest place works as long as the busiest resource transfers
/// messages. So both work and messages affect the time of the program.
void scale_loads(Case& made) {
  const Traffic traffic = traffic_of(made);
  const auto work = work_s(made.machine, made.workload, made.placement);
  const double factor = traffic.busiest_s() / *std::max_element(work.begin(), work.end());
  for (Task& task : made.workload.tasks) task.load_s *= factor;
}

Case case_of(std::size_t machine, std::size_t program, std::uint64_t seed) {
  Random random(mix(seed) ^ mix(100 * machine + program));
  Case made;
  made.machine = machine_from_text(kMachines[machine].machine);
  made.options.routing = kMachines[machine].routing;
  made.workload = generate(parse_recipe(kPrograms[program]), 60, seed)[0];
  std::vector<PlaceId> places;
  const TaskId tasks = made.workload.num_tasks();
  for (TaskId t = 0; t < tasks; ++t)
    places.push_back(seed % 2 == 0 ? std::uint64_t{t} * made.machine.num_places() / tasks
                                   : random.below(made.machine.num_places()));
  made.placement = Placement(places);
  for (Message& message : made.workload.messages)
    message.bytes = 1000 + random.below(200'000) * message.count;
  made.workload.overlap = random.below(3) / 2.0;
  made.options.eager_bytes = seed % 3 == 0 ? 1'000'000'000 : 65536;
  made.name = fmt::format("{} on machine {}, seed {}", kPrograms[program], machine, seed);
  scale_loads(made);
  return made;
}

Json routes_of(const Routes& routes) {
  Json all = Json::array();
  for (std::uint32_t route = 0; route < routes.count(); ++route) {
    Json stops = Json::array();
    for (const RouteStop& stop : routes.stops(route))
      stops.push_back({stop.resource, stop.s_per_byte});
    all.push_back(std::move(stops));
  }
  return all;
}

Json json_of(const Case& made) {
  const Traffic traffic = traffic_of(made);
  const auto work = work_s(made.machine, made.workload, made.placement);
  Json messages = Json::array();
  for (std::size_t i = 0; i < traffic.pairs().size(); ++i) {
    const Traffic::Pair& pair = traffic.pairs()[i];
    const bool is_eager = pair.message_bytes <= made.options.eager_bytes;
    messages.push_back({{"from", pair.from},
                        {"to", pair.to},
                        {"sender_s", pair.sender_s},
                        {"receiver_s", pair.receiver_s},
                        {"latency_s", pair.latency_s},
                        {"bytes", traffic.flows()[i].bytes},
                        {"route", traffic.flows()[i].route},
                        {"is_eager", is_eager}});
  }
  const auto predicted = [&](EngineOptions options) {
    return simulate_iteration(traffic, work, made.workload.overlap, options).end_s;
  };
  EngineOptions exact = made.options, queue = made.options;
  exact.precision = 0;
  queue.sharing = Sharing::queue;
  return {{"name", made.name},
          {"work_s", work},
          {"overlap", made.workload.overlap},
          {"handshake_latencies", made.options.handshake_latencies},
          {"routes", routes_of(traffic.routes())},
          {"messages", std::move(messages)},
          {"predicted_s",
           {{"fluid", predicted(exact)},
            {"fluid, default precision", predicted(made.options)},
            {"queue", predicted(queue)},
            {"formula", evaluate(with_formula(made.machine, CostFormula::physical), made.workload,
                                 with_formula(made.machine, CostFormula::physical).costs(),
                                 made.placement, made.placement)
                            .iteration_s}}}};
}

}  // namespace

int main() {
  for (std::size_t machine = 0; machine < kMachines.size(); ++machine)
    for (std::size_t program = 0; program < kPrograms.size(); ++program)
      for (std::uint64_t seed = 1; seed <= 3; ++seed)
        std::puts(json_of(case_of(machine, program, seed)).dump().c_str());
  return 0;
}
