// `poise compare`: strategies side by side on one phase of a trace.
#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <memory>

#include "apps/commands.h"

#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"
#include "poise/trace/trace.h"

namespace poise::apps {

namespace {

struct Options {
  std::string trace, machine, strategies = "keep,greedy";
};

void compare(const Options& options) {
  const Trace trace = read_trace(options.trace);
  const Machine machine = options.machine.empty()
                              ? trace.machine.value_or(flat_machine(trace.num_places))
                              : machine_from_text(options.machine);
  const Phase& phase = trace.phases.front();
  fmt::print("{:<20} {:>12} {:>12} {:>10} {:>10}\n", "strategy", "iteration s", "makespan s",
             "imbalance", "migrations");
  for (const Choice& choice : parse_strategies(options.strategies)) {
    const Problem problem{machine, phase.workload, phase.placement, machine.costs()};
    const Metrics metrics = evaluate(machine, phase.workload, machine.costs(), phase.placement,
                                     choice.rebalance(problem));
    fmt::print("{:<20} {:>12.6g} {:>12.6g} {:>10.4f} {:>10}\n", choice.text(), metrics.iteration_s,
               metrics.makespan_s, metrics.imbalance, metrics.migrations);
  }
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("compare", "Strategies side by side, with bounds");
  command->add_option("TRACE", options->trace, "a trace of any form")->required();
  command->add_option("--machine", options->machine, "machine text");
  command->add_option("--strategies", options->strategies, "NAME[:KNOB=VALUE],…");
  command->callback([options] { compare(*options); });
}

}  // namespace poise::apps
