// SPDX-License-Identifier: BSD-3-Clause
// Simulates the programs that engine_cases prints, with SimGrid (S4U): an actor per place works,
// sends and receives, and an actor per message transfers it. Prints the time of each program.
//
// The simulated links have no latency. Instead, a message waits for the latency of its route before
// it enters the network, because SimGrid's TCP model would give paths with a short latency a larger
// share of the bandwidth. If a byte crosses a resource several times, the route lists the resource
// several times.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <fmt/core.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "bench/simgrid_child.h"

namespace {

namespace sg4 = simgrid::s4u;
using Json = nlohmann::json;

constexpr double kFlops = 1e9;  // speed of a place in operations per second

struct Message {
  std::size_t from, to, route;
  double sender_s, receiver_s, latency_s, bytes;
  bool is_eager;
};

/// The actors (simulated processes) of one program.
class Simulation {
 public:
  explicit Simulation(const Json& program)
      : work_s_(program.at("work_s").get<std::vector<double>>()),
        overlap_(program.at("overlap")),
        handshake_(program.at("handshake_latencies")) {
    for (const Json& row : program.at("messages")) {
      messages_.push_back({row.at("from"), row.at("to"), row.at("route"), row.at("sender_s"),
                           row.at("receiver_s"), row.at("latency_s"), row.at("bytes"),
                           row.at("is_eager")});
      // True if no resource on the route limits the message.
      if (program.at("routes").at(messages_.back().route).empty()) messages_.back().bytes = 0;
    }
    zone_ = sg4::create_full_zone("machine");
    for (std::size_t p = 0; p < work_s_.size(); ++p) {
      hosts_.push_back(zone_->create_host(fmt::format("place{}", p), kFlops));
      places_.emplace_back();
    }
    add_routes(program.at("routes"));
    zone_->seal();
  }

  double run(sg4::Engine& engine) {
    for (Place& place : places_) {
      place.arrived = sg4::Semaphore::create(0);
      place.ready = sg4::Semaphore::create(0);
    }
    for (std::size_t p = 0; p < hosts_.size(); ++p)
      sg4::Actor::create(fmt::format("place{}", p), hosts_[p], [this, p] { live(p); });
    engine.run();
    return sg4::Engine::get_clock();
  }

 private:
  struct Place {
    sg4::SemaphorePtr arrived, ready;  // `ready` counts the non-eager messages that may start
    std::deque<const Message*> mail;
  };

  void add_routes(const Json& routes) {
    // For each resource, the seconds per byte of one crossing. If a route crosses a resource
    // several times, the input has only the sum over these crossings. So the smallest value of all
    // routes is taken as the time of one crossing.
    std::map<std::size_t, double> finest;
    for (const Json& stops : routes)
      for (const Json& stop : stops) {
        const auto [found, is_new] = finest.emplace(stop.at(0), stop.at(1));
        if (!is_new) found->second = std::min(found->second, stop.at(1).get<double>());
      }
    std::map<std::size_t, sg4::Link*> links;
    for (const auto& [resource, s_per_byte] : finest)
      links[resource] = zone_->create_link(fmt::format("resource{}", resource), 1 / s_per_byte)
                            ->set_latency(0)
                            ->seal();
    for (const Message& message : messages_) {
      std::vector<sg4::LinkInRoute> route;
      for (const Json& stop : routes.at(message.route)) {
        const std::size_t resource = stop.at(0);
        const long times = std::lround(stop.at(1).get<double>() / finest[resource]);
        for (long i = 0; i < times; ++i) route.emplace_back(links[resource]);
      }
      if (route.empty()) continue;
      zone_->add_route(hosts_[message.from]->get_netpoint(), hosts_[message.to]->get_netpoint(),
                       nullptr, nullptr, route, false);
    }
  }

  static void compute(double seconds) {
    if (seconds > 0) sg4::this_actor::execute(seconds * kFlops);
  }

  void live(std::size_t p) {
    compute((1 - overlap_) * work_s_[p]);
    std::size_t expected = 0;
    for (const Message& message : messages_) {
      if (message.to != p) continue;
      ++expected;
      if (!message.is_eager) places_[p].ready->release();
    }
    for (const Message& message : messages_) {
      if (message.from != p) continue;
      compute(message.sender_s);
      sg4::Actor::create("message", hosts_[p], [this, &message] { carry(message); });
    }
    compute(overlap_ * work_s_[p]);
    for (std::size_t i = 0; i < expected; ++i) {
      places_[p].arrived->acquire();
      const Message* message = places_[p].mail.front();
      places_[p].mail.pop_front();
      compute(message->receiver_s);
    }
  }

  void carry(const Message& message) {
    if (!message.is_eager) {
      sg4::this_actor::sleep_for(handshake_ / 2 * message.latency_s);
      places_[message.to].ready->acquire();
      sg4::this_actor::sleep_for(handshake_ / 2 * message.latency_s);
    }
    sg4::this_actor::sleep_for(message.latency_s);
    if (message.bytes >= 1)
      sg4::Comm::sendto_async(hosts_[message.from], hosts_[message.to],
                              static_cast<std::uint64_t>(message.bytes))
          ->wait();
    places_[message.to].mail.push_back(&message);
    places_[message.to].arrived->release();
  }

  std::vector<double> work_s_;
  double overlap_, handshake_;
  std::vector<Message> messages_;
  sg4::NetZone* zone_;
  std::vector<sg4::Host*> hosts_;
  std::vector<Place> places_;
};

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "");
  if (!file) {
    std::fputs("usage: engine_simgrid FILE, with what engine_cases prints\n", stderr);
    return 2;
  }
  for (std::string line; std::getline(file, line);) {
    const Json program = Json::parse(line);
    const std::optional<double> seconds = poise::simulated_in_child(
        argc, argv, [&](sg4::Engine& engine) { return Simulation(program).run(engine); });
    if (!seconds) {
      std::fprintf(stderr,
                   "engine_simgrid: \"%s\": the simulation failed or took longer than %d s\n",
                   program.at("name").get<std::string>().c_str(), poise::kSimGridTimeout_s);
      return 1;
    }
    std::puts(Json{{"name", program.at("name")}, {"simgrid_s", *seconds}}.dump().c_str());
    std::fflush(stdout);
  }
  return 0;
}
