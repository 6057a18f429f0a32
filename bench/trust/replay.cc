// SPDX-License-Identifier: BSD-3-Clause

#include "bench/trust/replay.h"

#include <algorithm>
#include <fmt/core.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "poise/base/error.h"

namespace poise::trust {
namespace {

using Json = nlohmann::json;

Layout layout_of(const std::string& machine) {
  Layout layout;
  std::istringstream words(machine);
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    const std::string level = word.substr(0, colon);
    int* count = level == "rack"   ? &layout.racks
                 : level == "node" ? &layout.nodes_per_rack
                 : level == "core" ? &layout.places_per_node
                                   : nullptr;
    if (count && colon != std::string::npos) *count = std::stoi(word.substr(colon + 1));
  }
  if (layout.racks < 1 || layout.nodes_per_rack < 1 || layout.places_per_node < 1) {
    throw Error(fmt::format(
        "machine \"{}\": the numbers of racks, nodes and cores must be at least 1", machine));
  }
  return layout;
}

Costs costs_of(const Json& json) {
  Costs costs;
  costs.card_out_bytes_per_s = json.value("card_out_bytes_per_s", 0.0);
  costs.card_in_bytes_per_s = json.value("card_in_bytes_per_s", 0.0);
  costs.uplink_bytes_per_s = json.value("uplink_bytes_per_s", 0.0);
  costs.bus_bytes_per_s = json.value("bus_bytes_per_s", 0.0);
  costs.near_s = json.value("near_s", 0.0);
  costs.far_s = json.value("far_s", 0.0);
  costs.message_s = json.value("message_s", 0.0);
  costs.eager_bytes = json.value("eager_bytes", std::uint64_t{0});
  return costs;
}

void check(const Replay& replay) {
  const int tasks = replay.load_s.size(), places = replay.layout.num_places();
  if (replay.map.size() != replay.load_s.size()) {
    throw Error(
        fmt::format("\"map\" has {} entries, but there are {} tasks; give one place per task",
                    replay.map.size(), tasks));
  }
  for (const int place : replay.map) {
    if (place < 0 || place >= places)
      throw Error(fmt::format("map: place {} of {}", place, places));
  }
  for (const Message& message : replay.messages) {
    if (std::min(message.from, message.to) < 0 || std::max(message.from, message.to) >= tasks ||
        message.count < 1) {
      throw Error(fmt::format("messages: [{}, {}, {}, {}] with {} tasks", message.from, message.to,
                              message.count, message.bytes, tasks));
    }
  }
}

Replay replay_of(const Json& json) {
  Replay replay;
  replay.name = json.value("name", "");
  replay.layout = layout_of(json.at("machine"));
  replay.costs = costs_of(json.value("costs", Json::object()));
  for (const Json& task : json.at("tasks")) replay.load_s.push_back(task.at("load_s"));
  for (const Json& row : json.at("messages")) {
    replay.messages.push_back({row.at(0), row.at(1), row.at(2), row.at(3)});
  }
  replay.map = json.at("map").get<std::vector<int>>();
  replay.overlap = json.value("overlap", false);
  check(replay);
  return replay;
}

}  // namespace

std::vector<double> Replay::work_s() const {
  std::vector<double> work_s(layout.num_places());
  for (std::size_t task = 0; task < map.size(); ++task) work_s[map[task]] += load_s[task];
  return work_s;
}

std::vector<Message> Replay::between_places() const {
  std::vector<Message> between;
  for (Message message : messages) {
    message.from = map[message.from];
    message.to = map[message.to];
    if (message.from != message.to) between.push_back(message);
  }
  return between;
}

std::vector<Replay> read_replays(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("{}: cannot be read", path));
  std::vector<Replay> replays;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    try {
      replays.push_back(replay_of(Json::parse(line)));
    } catch (const std::exception& trouble) {
      throw Error(fmt::format("{}:{}: {}", path, number, trouble.what()));
    }
  }
  if (replays.empty())
    throw Error(fmt::format("{}: the file is empty; it must describe one program per line", path));
  return replays;
}

}  // namespace poise::trust
