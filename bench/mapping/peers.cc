// SPDX-License-Identifier: BSD-3-Clause

#include "bench/mapping/peers.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/trace/placement_file.h"

namespace poise::mapping {

namespace {

/// Strategies of Poise that call an outside library of the same name.
constexpr std::string_view kLibraries[] = {"metis", "scotch"};

constexpr const char* kVariants[] = {"scotch:effort=best", "scotch:remap=1"};

}  // namespace

std::string usual_peers() {
  std::string peers;
  for (const Strategy& strategy : strategies())
    if (!strategy.ignores_messages && !strategy.is_oracle && strategy.name != kOurs)
      peers += fmt::format("{},", strategy.name);
  return peers + fmt::format("{}", fmt::join(kVariants, ","));
}

bool is_outside(const std::string& tool) {
  const std::string_view name = std::string_view(tool).substr(0, tool.find(':'));
  const auto is_row = [&](const Strategy& strategy) { return strategy.name == name; };
  const auto rows = strategies();
  const bool is_in_table = std::any_of(rows.begin(), rows.end(), is_row);
  return !is_in_table ||
         std::find(std::begin(kLibraries), std::end(kLibraries), name) != std::end(kLibraries);
}

std::optional<Answer> answer_of(const Choice& choice, const Instance& instance) {
  constexpr double kEnough_s = 0.03;
  constexpr int kMaxCalls = 5;
  const Problem problem{instance.machine, instance.workload, instance.current,
                        instance.machine.costs(), 1};
  Answer answer{{}, 1e300};
  try {
    double spent_s = 0;
    for (int call = 0; call < kMaxCalls && spent_s < kEnough_s; ++call) {
      const double start_s = process_cpu_now_s();
      answer.placement = choice.rebalance(problem);
      const double took_s = process_cpu_now_s() - start_s;
      answer.decision_s = std::min(answer.decision_s, took_s);
      spent_s += took_s;
    }
  } catch (const Error& error) {
    static std::set<std::string> said;
    if (said.insert(choice.text()).second)
      fmt::print("without {}: {}\n", choice.text(), error.what());
    return std::nullopt;
  }
  return answer;
}

std::map<std::string, Answer> answers_in(const std::string& folder, const Instance& instance) {
  std::map<std::string, Answer> answers;
  if (folder.empty()) return answers;
  const std::string start = instance.name + "@";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    if (!file.starts_with(start) || entry.path().extension() != ".place") continue;
    Placement placement = read_placement(entry.path());
    check(placement, instance.workload.num_tasks(), instance.machine.num_places());
    auto seconds = entry.path();
    seconds.replace_extension(".seconds");
    const std::string tool = file.substr(start.size(), file.size() - start.size() - 6);
    answers[tool] = {std::move(placement), std::stod(read_file(seconds))};
  }
  return answers;
}

}  // namespace poise::mapping
