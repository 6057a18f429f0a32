// SPDX-License-Identifier: BSD-3-Clause
// `poise strategies`: lists every strategy with its source, cost and knobs.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "apps/commands/commands.h"
#include "apps/text/knobs.h"
#include "apps/text/output.h"

#include "poise/online/juggle_tuning.h"
#include "poise/partition/tuning.h"
#include "poise/strategies/strategy.h"
#include "poise/strategies/tuning.h"

namespace poise::apps {

namespace {

std::string text_of_strategies() {
  std::string text;
  for (const Strategy& strategy : strategies())
    text += fmt::format("{:<14} {}\n{:14} {}; {}\n{}", strategy.name, strategy.summary, "",
                        strategy.source, strategy.complexity, list_of(strategy.knobs, 17));
  return text;
}

std::string text_of_tuning(std::string_view heading, std::span<const Knob> numbers) {
  if (numbers.empty()) return {};
  std::string text = fmt::format("{}\n", heading);
  for (const Knob& knob : numbers)
    text +=
        fmt::format("  {:<26} {:>10} {:<18} {}\n", knob.name, knob.initial, knob.unit, knob.help);
  return text;
}

std::string text_of_all_tuning() {
  std::string text;
  for (const Strategy& strategy : strategies())
    text += text_of_tuning(strategy.name, strategy.tuning);
  text += text_of_tuning("fixed numbers of strategies", kStrategiesNumbers);
  text += text_of_tuning("fixed numbers of the partitioner", kPartitionNumbers);
  return text + text_of_tuning("poise juggle (not a strategy: --tuning or POISE_JUGGLE_TUNING)",
                               kJuggleKnobs);
}

nlohmann::ordered_json json_of_strategies() {
  auto list = nlohmann::ordered_json::array();
  for (const Strategy& strategy : strategies())
    list.push_back({{"name", strategy.name},
                    {"summary", strategy.summary},
                    {"source", strategy.source},
                    {"complexity", strategy.complexity},
                    {"incremental", strategy.is_incremental},
                    {"oracle", strategy.is_oracle},
                    {"knobs", json_of(strategy.knobs)}});
  return {{"strategies", std::move(list)}};
}

}  // namespace

void add_strategies(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  auto tuning = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "strategies", "List the strategies: summary, source, complexity, knobs with their ranges");
  CLI::Option* as_json =
      command->add_flag("--json", *json, "Print one JSON document and nothing else");
  command
      ->add_flag("--tuning", *tuning,
                 "Print the tuned numbers of strategies and of poise juggle: value, unit, effect")
      ->excludes(as_json);
  command->footer(
      "Set a knob after the name of a strategy: --strategy nuco:alpha=1e-4\n\n"
      "Example: poise strategies");
  command->callback([json, tuning] {
    print(*tuning ? text_of_all_tuning()
          : *json ? json_of_strategies().dump(2) + "\n"
                  : text_of_strategies());
  });
}

}  // namespace poise::apps
