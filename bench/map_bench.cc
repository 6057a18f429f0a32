// SPDX-License-Identifier: BSD-3-Clause
// Compares `poise map` with other ways to map ranks to cores, one rank to a core. Some
// communication matrices are generated with the patterns of typical programs, others are recorded.
// The machines are trees, tori, dragonflies and NUMA nodes.
//
//     map_bench [--only=TEXT] [--max_ranks=N] [--benchmark_out=FILE]
//
// The other ways are block order; Scotch's mapping; TreeMatch; METIS, whose parts are put on the
// places in the machine's order; and the greedy mapping of Hoefler and Snir, "Generic topology
// mapping strategies for large-scale parallel architectures" (ICS 2011). If Scotch, TreeMatch or
// METIS puts several ranks on a place, the surplus ranks are moved to the nearest free places. A
// map is judged by the sum of bytes times hops over all messages. Times are CPU seconds. Recorded
// matrices are read from $POISE_TEST_DATA/matrices if that variable is set.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/random.h"
#include "poise/base/text.h"
#include "poise/machine/text.h"
#include "poise/partition/rank_map.h"
#include "poise/strategies/strategy.h"
#include "poise/trace/trace.h"
#include "poise/workload/generate.h"
#include "poise/workload/links.h"

namespace {

using namespace poise;
using nlohmann::ordered_json;

struct Instance {
  std::string name, machine;
  Workload workload;
};

/// A number of ranks, and the machines on which their maps are compared. The list was fixed before
/// the first run, so that the results could not influence it.
struct Size {
  TaskId ranks;
  std::vector<const char*> machines;
};
const std::vector<Size> kSizes = {
    {64, {"node:4 numa:2 core:8", "torus:4x4x4 core:1", "numa:4 core:16"}},
    {256,
     {"rack:2 node:4 numa:2 core:16", "torus:4x4x4 core:4", "dragonfly:4x2 node:2 core:16 hop:1"}},
    {1024,
     {"rack:4 node:4 numa:4 core:16", "torus:8x8 core:16", "dragonfly:8x4 node:2 core:16 hop:1"}},
    {4096, {"rack:8 node:8 numa:4 core:16", "torus:8x8x4 core:16"}},
    {32768, {"rack:16 node:32 numa:4 core:16", "torus:8x8x8 core:64"}},
};
constexpr const char* kKinds[] = {"stencil2d", "stencil3d", "geometric", "tree"};

/// A random tree: each rank but the first exchanges messages with a random rank of lower number, as
/// in reductions.
Workload tree_of(TaskId ranks, std::uint64_t seed) {
  Random random(seed);
  Workload workload;
  workload.tasks.resize(ranks);
  for (TaskId r = 1; r < ranks; ++r) {
    const TaskId parent = random.below(r);
    const std::uint64_t bytes = 1 + random.below(1000);
    workload.messages.push_back({r, parent, 1, bytes});
    workload.messages.push_back({parent, r, 1, bytes});
  }
  return workload;
}

Workload workload_of(const std::string& kind, TaskId ranks) {
  return kind == "tree" ? tree_of(ranks, 7) : generate(parse_recipe(kind), ranks, 7).front();
}

/// Reads a communication matrix with lines "from , to = bytes", and skips all other lines.
Workload read_pairs(const std::string& path) {
  Workload workload;
  const std::string text = read_file(path);
  for (const std::string_view line : split(text, '\n')) {
    unsigned from = 0, to = 0;
    double bytes = 0;
    if (std::sscanf(std::string(line).c_str(), "%u , %u = %lf", &from, &to, &bytes) != 3) continue;
    if (workload.tasks.size() <= std::max(from, to)) workload.tasks.resize(std::max(from, to) + 1);
    workload.messages.push_back({from, to, 1, static_cast<std::uint64_t>(bytes)});
  }
  return workload;
}

void add_recorded(std::vector<Instance>& instances) {
  const char* data = std::getenv("POISE_TEST_DATA");
  if (data == nullptr) return;
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(data) + "/matrices", error))
    if (entry.path().extension() == ".txt" || entry.path().extension() == ".mpiP")
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).filename().string();
    const bool is_report = file.ends_with(".mpiP");
    if (is_report)
      instances.push_back({name, "node:4 numa:2 core:8", read_trace(file).phases.front().workload});
    else
      for (const char* machine : {"node:18 core:64", "torus:4x4x5 core:16"})
        instances.push_back({name, machine, read_pairs(file)});
  }
}

std::vector<Instance> all_instances() {
  std::vector<Instance> instances;
  for (const Size& size : kSizes)
    for (const char* kind : kKinds)
      for (const char* machine : size.machines)
        instances.push_back(
            {fmt::format("{}-{}", kind, size.ranks), machine, workload_of(kind, size.ranks)});
  add_recorded(instances);
  return instances;
}

/// Hoefler and Snir's greedy mapping. It starts with the rank that sends most. Then it repeatedly
/// takes the heaviest edge from a mapped rank to an unmapped rank, and puts the unmapped rank on
/// the free slot nearest to the mapped rank.
Placement greedy(const Machine& machine, const Workload& workload) {
  const std::vector<PlaceId> slots = rank_slots(machine, workload.num_tasks(), {});
  const RankDistances distances(machine, Distance::hops);
  const Links links = neighbours(workload);
  std::vector<std::tuple<std::uint64_t, TaskId>> heaviest;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    std::uint64_t bytes = 0;
    for (const Link& link : links.of(t)) bytes += link.bytes;
    heaviest.push_back({bytes, workload.num_tasks() - 1 - t});
  }
  std::sort(heaviest.rbegin(), heaviest.rend());
  std::vector<PlaceId> free(slots.begin(), slots.end());
  std::vector<std::uint8_t> is_mapped(workload.num_tasks(), 0);
  Placement placement(workload.num_tasks());
  std::priority_queue<std::tuple<std::uint64_t, TaskId, PlaceId>> edges;
  const auto map = [&](TaskId t, PlaceId near) {
    const auto place = std::min_element(free.begin(), free.end(), [&](PlaceId a, PlaceId b) {
      return std::pair(distances(near, a), a) < std::pair(distances(near, b), b);
    });
    placement.move(t, *place);
    const PlaceId at = *place;
    free.erase(place);
    is_mapped[t] = 1;
    for (const Link& link : links.of(t))
      if (!is_mapped[link.task]) edges.push({link.bytes, link.task, at});
    return at;
  };
  PlaceId last = slots.front();
  for (const auto& [bytes, reversed] : heaviest) {
    const TaskId start = workload.num_tasks() - 1 - reversed;
    if (!is_mapped[start]) last = map(start, last);
    while (!edges.empty()) {
      const auto [weight, task, near] = edges.top();
      edges.pop();
      if (!is_mapped[task]) last = map(task, near);
    }
  }
  return placement;
}

/// Maps ranks by a strategy of Poise, which regards all ranks as equally loaded. If the strategy
/// puts several ranks on a place, all of these but one are then moved to free places.
Placement by_strategy(const char* text, const Machine& machine, const Workload& workload) {
  Workload equal = workload;
  for (Task& task : equal.tasks) task = {.load_s = 1};
  equal.background_s.clear();
  const Placement block = in_block_order(machine, workload, {});
  const Placement placement =
      parse_strategy(text).rebalance({machine, equal, block, machine.costs(), 1});
  return one_per_slot(machine, workload, placement, {});
}

using Mapper = std::function<Placement(const Machine&, const Workload&)>;
const std::vector<std::pair<std::string, Mapper>> kMappers = {
    {"map", [](auto& m, auto& w) { return map_ranks(m, w, nullptr, {}); }},
    {"block", [](auto& m, auto& w) { return in_block_order(m, w, {}); }},
    {"scotch", [](auto& m, auto& w) { return by_strategy("scotch", m, w); }},
    {"treematch", [](auto& m, auto& w) { return by_strategy("treematch:only_better=0", m, w); }},
    {"metis", [](auto& m, auto& w) { return by_strategy("metis", m, w); }},
    {"greedy", [](auto& m, auto& w) { return greedy(m, w); }}};

ordered_json row_of(const Instance& instance) {
  const Machine machine = machine_from_text(instance.machine);
  ordered_json row{{"name", instance.name},
                   {"machine", instance.machine},
                   {"ranks", instance.workload.num_tasks()}};
  double best = 0;
  for (const auto& [name, mapper] : kMappers) {
    const double start = process_cpu_now_s();
    Placement placement;
    try {
      placement = mapper(machine, instance.workload);
    } catch (const Error& error) {
      row[name] = {{"error", error.what()}};
      continue;
    }
    const double spent = process_cpu_now_s() - start;
    const MapCost cost = map_cost(machine, instance.workload, placement, Distance::hops);
    row[name] = {{"traffic", cost.traffic},
                 {"internode_bytes", cost.internode_bytes},
                 {"busiest_node_bytes", cost.busiest_node_bytes},
                 {"cpu_s", spent}};
    if (name != "map" && (best == 0 || cost.traffic < best))
      best = cost.traffic, row["best"] = name;
  }
  row["ratio"] = best > 0 ? row["map"]["traffic"].get<double>() / best : 1;
  fmt::print("{:<24} {:<34} {:.3f} of {}, {:.2f} s\n", instance.name, instance.machine,
             row["ratio"].get<double>(), row["best"].get<std::string>(),
             row["map"]["cpu_s"].get<double>());
  std::fflush(stdout);
  return row;
}

ordered_json summary_of(const std::vector<ordered_json>& rows) {
  std::vector<double> ratios;
  std::map<std::string, double> logs;
  for (const ordered_json& row : rows) {
    ratios.push_back(row["ratio"].get<double>());
    for (const auto& mapper : kMappers)
      if (row[mapper.first].contains("traffic"))
        logs[mapper.first] += std::log(row["map"]["traffic"].get<double>() /
                                       std::max(1.0, row[mapper.first]["traffic"].get<double>()));
  }
  std::sort(ratios.begin(), ratios.end());
  double sum = 0, good = 0;
  for (const double ratio : ratios) sum += std::log(ratio), good += ratio <= 1 + 1e-9;
  const double count = ratios.size();
  ordered_json summary{{"name", "summary"},
                       {"instances", ratios.size()},
                       {"geometric_mean_to_best_peer", std::exp(sum / count)},
                       {"median_to_best_peer", ratios[ratios.size() / 2]},
                       {"worst_to_best_peer", ratios.back()},
                       {"share_not_above_best_peer", good / count}};
  for (const auto& [name, log] : logs)
    if (name != "map") summary["geometric_mean_to_" + name] = std::exp(log / count);
  return summary;
}

}  // namespace

int main(int argc, char** argv) {
  std::string only, out;
  TaskId max_ranks = ~TaskId{0};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--only=")) only = argument.substr(7);
    if (argument.starts_with("--max_ranks=")) max_ranks = std::stoul(argument.substr(12));
    if (argument.starts_with("--benchmark_out=")) out = argument.substr(16);
  }
  try {
    std::vector<ordered_json> rows;
    for (const Instance& instance : all_instances())
      if (instance.name.find(only) != std::string::npos &&
          instance.workload.num_tasks() <= max_ranks)
        rows.push_back(row_of(instance));
    if (rows.empty()) fail("--only={}: there is no instance whose name contains this text", only);
    rows.insert(rows.begin(), summary_of({rows.begin(), rows.end()}));
    fmt::print("{}\n", rows[0].dump(1));
    if (!out.empty()) write_file(out, ordered_json{{"benchmarks", rows}}.dump(1));
  } catch (const Error& error) {
    fmt::print(stderr, "map_bench: {}\n", error.what());
    return 2;
  }
}
