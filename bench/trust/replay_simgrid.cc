// SPDX-License-Identifier: BSD-3-Clause
// Replays programs in SimGrid and prints each program's time per iteration. SimGrid uses a fluid
// model: the messages on a link share its bandwidth fairly.
//
// A node has a link out, a link in and a bus for messages inside it; a rack has a link up and a
// link down. A message waits for its delay before it enters the network, because SimGrid's TCP
// model would give paths with short latency a larger share.
#include <algorithm>
#include <cstdio>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <simgrid/s4u.hpp>

#include "bench/simgrid_child.h"
#include "bench/trust/replay.h"

#include "poise/base/error.h"

namespace {

namespace sg4 = simgrid::s4u;
using poise::trust::Costs;
using poise::trust::Layout;
using poise::trust::Message;
using poise::trust::Replay;

constexpr double kNoLimit_bytes_per_s = 1e15;
constexpr double kPrecision_s = 1e-9;  // of SimGrid

/// The places and links of a machine.
class Platform {
 public:
  explicit Platform(const Layout& layout, const Costs& costs) : layout_(layout) {
    zone_ = sg4::create_full_zone("machine");
    for (int place = 0; place < layout.num_places(); ++place) {
      hosts_.push_back(zone_->create_host(fmt::format("place{}", place), 1e9));
    }
    for (int node = 0; node < layout.num_nodes(); ++node) {
      out_.push_back(link("out", node, costs.card_out_bytes_per_s));
      in_.push_back(link("in", node, costs.card_in_bytes_per_s));
      bus_.push_back(link("bus", node, costs.bus_bytes_per_s));
    }
    for (int rack = 0; rack < layout.racks; ++rack) {
      up_.push_back(link("up", rack, costs.uplink_bytes_per_s));
      down_.push_back(link("down", rack, costs.uplink_bytes_per_s));
    }
    for (int from = 0; from < layout.num_places(); ++from) {
      for (int to = 0; to < layout.num_places(); ++to) {
        if (from != to) add_route(from, to);
      }
    }
    zone_->seal();
  }

  sg4::Host* host(int place) const { return hosts_[static_cast<std::size_t>(place)]; }

 private:
  sg4::Link* link(const char* kind, int number, double bytes_per_s) {
    return zone_
        ->create_link(fmt::format("{}{}", kind, number),
                      bytes_per_s > 0 ? bytes_per_s : kNoLimit_bytes_per_s)
        ->set_latency(0)
        ->seal();
  }

  void add_route(int from, int to) {
    const auto at = [](const std::vector<sg4::Link*>& links, int number) {
      return sg4::LinkInRoute(links[static_cast<std::size_t>(number)]);
    };
    std::vector<sg4::LinkInRoute> route;
    if (layout_.node_of(from) == layout_.node_of(to)) {
      route = {at(bus_, layout_.node_of(from))};
    } else if (layout_.rack_of(from) == layout_.rack_of(to)) {
      route = {at(out_, layout_.node_of(from)), at(in_, layout_.node_of(to))};
    } else {
      route = {at(out_, layout_.node_of(from)), at(up_, layout_.rack_of(from)),
               at(down_, layout_.rack_of(to)), at(in_, layout_.node_of(to))};
    }
    zone_->add_route(host(from)->get_netpoint(), host(to)->get_netpoint(), nullptr, nullptr, route,
                     false);
  }

  Layout layout_;
  sg4::NetZone* zone_;
  std::vector<sg4::Host*> hosts_;
  std::vector<sg4::Link*> out_, in_, bus_, up_, down_;
};

/// A message, and the time at which it enters the network.
struct Departure {
  double at_s;
  const Message* message;
};

double delay_s(const Replay& replay, const Message& message) {
  const Layout& layout = replay.layout;
  if (layout.node_of(message.from) == layout.node_of(message.to)) return 0;
  return layout.rack_of(message.from) == layout.rack_of(message.to) ? replay.costs.near_s
                                                                    : replay.costs.far_s;
}

/// Returns the seconds of work of each place, including the CPU time of its messages.
std::vector<double> busy_s(const Replay& replay, const std::vector<Message>& messages) {
  std::vector<double> busy_s = replay.work_s();
  for (const Message& message : messages) {
    for (const int place : {message.from, message.to}) {
      busy_s[static_cast<std::size_t>(place)] +=
          static_cast<double>(message.count) * replay.costs.message_s;
    }
  }
  return busy_s;
}

std::vector<Departure> departures(const Replay& replay, const std::vector<Message>& messages,
                                  const std::vector<double>& busy_s) {
  std::vector<Departure> departures;
  for (const Message& message : messages) {
    double at_s = replay.overlap ? 0 : busy_s[static_cast<std::size_t>(message.from)];
    if (!replay.overlap && message.bytes > replay.costs.eager_bytes * message.count) {
      at_s = std::max(at_s, busy_s[static_cast<std::size_t>(message.to)]);
    }
    departures.push_back({at_s + delay_s(replay, message), &message});
  }
  std::stable_sort(departures.begin(), departures.end(),
                   [](const Departure& a, const Departure& b) { return a.at_s < b.at_s; });
  return departures;
}

double simulate(const Replay& replay, sg4::Engine& engine) {
  const Platform platform(replay.layout, replay.costs);
  const std::vector<Message> messages = replay.between_places();
  const std::vector<double> busy = busy_s(replay, messages);
  double end_s = *std::max_element(busy.begin(), busy.end());
  sg4::Actor::create("network", platform.host(0), [&] {
    std::vector<sg4::CommPtr> comms;
    for (const Departure& departure : departures(replay, messages, busy)) {
      if (departure.at_s > sg4::Engine::get_clock() + kPrecision_s)
        sg4::this_actor::sleep_until(departure.at_s);
      comms.push_back(sg4::Comm::sendto_async(platform.host(departure.message->from),
                                              platform.host(departure.message->to),
                                              departure.message->bytes));
    }
    for (const sg4::CommPtr& comm : comms) comm->wait();
    end_s = std::max(end_s, sg4::Engine::get_clock());
  });
  engine.run();
  return end_s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(
        "usage: trust_simgrid FILE, with one JSON object per line (form: bench/trust_bench.py)\n",
        stderr);
    return 2;
  }
  try {
    for (const Replay& replay : poise::trust::read_replays(argv[1])) {
      const auto iteration_s = poise::simulated_in_child(
          argc, argv, [&](sg4::Engine& engine) { return simulate(replay, engine); });
      if (!iteration_s)
        throw poise::SystemError(
            fmt::format("\"{}\": the simulation failed or took longer than {} s", replay.name,
                        poise::kSimGridTimeout_s));
      fmt::print("{}\n",
                 nlohmann::json{{"name", replay.name}, {"iteration_s", *iteration_s}}.dump());
      std::fflush(stdout);
    }
  } catch (const poise::SystemError& error) {
    std::fprintf(stderr, "trust_simgrid: %s\n", error.what());
    return 1;
  } catch (const poise::Error& error) {
    std::fprintf(stderr, "trust_simgrid: %s\n", error.what());
    return 2;
  }
  return 0;
}
