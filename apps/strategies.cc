// `poise strategies`: every strategy with its source, cost and knobs.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "apps/commands.h"

#include "poise/strategies/strategy.h"

namespace poise::apps {

namespace {

void list_strategies() {
  for (const Strategy& strategy : strategies()) {
    fmt::print("{:<14} {}\n{:14} {}; {}\n", strategy.name, strategy.summary, "", strategy.source,
               strategy.complexity);
    for (const Knob& knob : strategy.knobs)
      fmt::print("{:16}{} = {} [{}, {}]: {}\n", "", knob.name, knob.initial, knob.min, knob.max,
                 knob.help);
  }
}

}  // namespace

void add_strategies(CLI::App& app) {
  app.add_subcommand("strategies", "List every strategy: summary, source, knobs, complexity")
      ->callback(list_strategies);
}

}  // namespace poise::apps
