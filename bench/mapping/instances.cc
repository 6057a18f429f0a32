// SPDX-License-Identifier: BSD-3-Clause

#include "bench/mapping/instances.h"

#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/strategies/strategy.h"
#include "poise/trace/metis_graph.h"
#include "poise/trace/placement_file.h"
#include "poise/trace/trace.h"
#include "poise/workload/generate.h"

namespace poise::mapping {

namespace {

/// A recipe for a workload. `weighs_messages` is true if messages matter more than loads in the
/// workload.
struct Kind {
  std::string recipe;
  bool weighs_messages;
};
const Kind kKinds[] = {
    {"stencil2d", false}, {"stencil3d", false}, {"stencil3d:messages=10", true},
    {"stencil4d", false}, {"geometric", true},  {"random", false},
    {"rmat", true},       {"leanmd", true},     {"ring:hot=2", false},
    {"commbench", true},
};

const std::string kMachines[] = {
    "node:4 numa:2 core:4 factors:10,1.5,1",
    "numa:8 core:6 factors:2,1",
    "node:20 numa:2 core:2 factors:10,1.53,1",
};
constexpr const char* kLargeMachine = "node:32 numa:4 core:8 factors:10,1.5,1";
constexpr TaskId kTasks[] = {480, 1'500, 6'000};
constexpr TaskId kManyTasks[] = {30'000, 97'336};

/// Returns the placement of the strategy, or of greedy_comm if the strategy's library is missing.
Placement balanced(const std::string& strategy, const Machine& machine, const Workload& workload) {
  const Placement start = blocked(workload.num_tasks(), machine.num_places());
  const Problem problem{machine, workload, start, machine.costs(), 1};
  try {
    return parse_strategy(strategy).rebalance(problem);
  } catch (const Error&) {
    return parse_strategy("greedy_comm").rebalance(problem);
  }
}

std::string drifting(const std::string& recipe) {
  if (recipe.find("drift=") != std::string::npos) return recipe;
  return recipe + (recipe.find(':') == std::string::npos ? ":" : ",") + "drift=0.2";
}

Instance drifted_instance(const Kind& kind, const std::string& machine_text, TaskId num_tasks,
                          int number) {
  constexpr const char* kStarts[] = {"scotch", "nuco", "poise"};
  const std::string recipe = drifting(kind.recipe);
  auto phases = generate(parse_recipe(recipe), num_tasks, number, 2);
  Machine machine = machine_from_text(machine_text);
  Placement current = balanced(kStarts[number % 3], machine, phases[0]);
  return {fmt::format("{}-{}-{}", recipe, phases[1].num_tasks(), machine.num_places()),
          machine_text,
          kind.weighs_messages,
          std::move(machine),
          std::move(phases[1]),
          std::move(current)};
}

/// Returns the words of `text`, or the default values if it is empty.
template <typename T, std::size_t size, typename Read>
std::vector<T> asked_or(const std::string& text, char separator, const T (&usual)[size],
                        const Read& read) {
  if (text.empty()) return {std::begin(usual), std::end(usual)};
  std::vector<T> asked;
  for (const std::string_view word : split(text, separator)) asked.push_back(read(word));
  return asked;
}

void for_each_drifted(const Selection& selection, const std::function<void(Instance&&)>& visit) {
  // A seed has fewer than 1,000 instances. Those of seed s are numbered from 1000 s + 1, so no
  // number occurs with two seeds. The instance number modulo 3 selects the strategy that balances
  // the workload before its loads drift. As 1,000 is not a multiple of 3, the next seed begins with
  // another strategy.
  constexpr int kInstancesOfASeed = 1'000;
  int number = kInstancesOfASeed * std::stoi(selection.seed);
  const auto make = [&](const Kind& kind, const std::string& machine, TaskId num_tasks) {
    ++number;
    const std::string name = fmt::format("{}:{}", kind.recipe, num_tasks);
    if (name.find(selection.only) == std::string::npos) return;
    visit(drifted_instance(kind, machine, num_tasks, number));
  };
  const auto kinds = asked_or(selection.recipes, '|', kKinds, [](std::string_view recipe) {
    return Kind{std::string(recipe), false};
  });
  const auto machines =
      asked_or(selection.machines, '|', kMachines, [](auto word) { return std::string(word); });
  const auto tasks = asked_or(selection.tasks, ',', kTasks, [](auto word) {
    return static_cast<TaskId>(std::stoul(std::string(word)));
  });
  for (const Kind& kind : kinds)
    for (const TaskId num_tasks : tasks) {
      if (selection.quick && num_tasks > kTasks[1]) continue;
      for (const std::string& machine : machines) make(kind, machine, num_tasks);
    }
  if (selection.quick || !(selection.machines + selection.tasks).empty()) return;
  for (const TaskId num_tasks : kManyTasks)
    for (const Kind& kind : kinds)
      // Scotch takes minutes for large graphs in which few vertices have most edges.
      if (kind.recipe != "rmat" || num_tasks == kManyTasks[0]) make(kind, kLargeMachine, num_tasks);
}

/// Finds the series of trace files, STEM.RANK.json, in the subfolders of a folder. Returns
/// FOLDER/STEM for each series.
std::set<std::string> series_in(const std::string& traces) {
  std::set<std::string> series;
  for (const auto& folder : std::filesystem::directory_iterator(traces)) {
    if (!folder.is_directory()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::filesystem::path stem = entry.path().stem();  // without .json
      if (entry.path().extension() == ".json" && stem.has_extension())
        series.insert(folder.path() / stem.stem());
    }
  }
  return series;
}

void for_each_recorded(const Selection& selection, const std::function<void(Instance&&)>& visit) {
  if (selection.traces.empty() || !std::filesystem::is_directory(selection.traces)) return;
  for (const std::string& series : series_in(selection.traces)) {
    const std::string stem = std::filesystem::path(series).filename();
    if (stem.find(selection.only) == std::string::npos) continue;
    try {
      const Trace trace = read_trace(series);
      for (const Phase& phase : trace.phases) {
        const std::string text = fmt::format("core:{}", trace.num_places);
        visit({fmt::format("{}-phase{}", stem, phase.id), text, false, machine_from_text(text),
               phase.workload, phase.placement});
      }
    } catch (const Error& error) {
      fmt::print("without {}: {}\n", series, error.what());
    }
  }
}

}  // namespace

void for_each_instance(const Selection& selection, const std::function<void(Instance&&)>& visit) {
  for_each_drifted(selection, visit);
  for_each_recorded(selection, visit);
}

void write_instance(const std::string& folder, const Instance& instance) {
  Trace trace;
  Phase& phase = trace.phases.emplace_back();
  phase.workload = instance.workload;
  for (Message& message : phase.workload.messages) message.bytes = 2 * message.count;
  const std::string stem = folder + "/" + instance.name;
  write_file(stem + ".graph", metis::write_graph(trace));
  write_placement(stem + ".current", instance.current);
  write_file(stem + ".machine", instance.machine_text + "\n");
}

}  // namespace poise::mapping
