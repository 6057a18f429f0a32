// SPDX-License-Identifier: BSD-3-Clause
// `poise plan`: makes one decision with one strategy.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/analysis/decision.h"
#include "apps/analysis/inputs.h"
#include "apps/commands/commands.h"
#include "apps/report/metrics.h"
#include "apps/text/command_line.h"
#include "apps/text/format.h"
#include "apps/text/output.h"

#include "poise/base/error.h"
#include "poise/trace/placement_file.h"

namespace poise::apps {

namespace {

struct PlanOptions {
  InputOptions input;
  std::string strategy = "poise", limit{kExecLimit}, output;
  std::uint64_t every = 10;
  bool json = false;
};

std::string text_of_plan(const PlanOptions& options, const Inputs& inputs, const Problem& problem,
                         const Contender& contender, const Decision& decision,
                         const Metrics& after) {
  const Metrics before =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, problem.current);
  return heading_text(options.input, inputs.phase(), problem.machine) +
         fmt::format("{}: decided in {} of CPU time ({} wall)\n\n", contender.name,
                     seconds_text(decision.cpu_s), seconds_text(decision.wall_s)) +
         before_and_after(before, after, has_sizes(problem.workload)) +
         fmt::format("{}\n{} phases with this decision: {}\n",
                     text_of(makespan_bounds(problem.machine, problem.workload, problem.current)),
                     options.every,
                     seconds_text(amortised_s(after, decision.cpu_s, options.every)));
}

nlohmann::ordered_json json_of_plan(const PlanOptions& options, const Inputs& inputs,
                                    const Problem& problem, const Contender& contender,
                                    const Decision& decision, const Metrics& after) {
  nlohmann::ordered_json json{{"strategy", contender.name}};
  json.update(json_of_problem(options.input, inputs.phase(), problem.machine));
  json["decision_s"] = decision.cpu_s;
  json["decision_wall_s"] = decision.wall_s;
  add_metrics(json, after, has_sizes(problem.workload));
  json["bounds"] = json_of(makespan_bounds(problem.machine, problem.workload, problem.current));
  json["every"] = options.every;
  json["amortised_s"] = amortised_s(after, decision.cpu_s, options.every);
  return json;
}

void plan(const PlanOptions& options) {
  const Contender contender = contender_named(options.strategy, limit_s(options.limit));
  const bool prints_placement = options.output == "-";
  if (prints_placement && options.json)
    fail("--output - and --json both write to stdout; drop one");
  if (!prints_placement)
    check_outputs({options.output}, options.input.kept_files(strategy_files(options.strategy)));
  Inputs inputs(options.input);
  Problem problem = inputs.on(0);
  problem.steps = options.every;
  const Decision decision = decide(contender, problem);
  std::vector<std::string> notes(inputs.notes().begin(), inputs.notes().end());
  if (!decision.memory_note.empty()) notes.push_back(decision.memory_note);
  if (prints_placement) return print(placement_to_text(decision.placement), notes);
  const Metrics after = evaluate(problem.machine, problem.workload, problem.costs, problem.current,
                                 decision.placement);
  if (!options.output.empty()) write_placement(options.output, decision.placement);
  if (options.json)
    print(document_text(json_of_plan(options, inputs, problem, contender, decision, after)), notes);
  else
    print(text_of_plan(options, inputs, problem, contender, decision, after), notes);
}

}  // namespace

void add_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "Let one strategy decide once where tasks run");
  add_input_options(*command, options->input, "--placement");
  add_capacity(*command, options->input);
  add_text(*command, "-s,--strategy", "S", options->strategy,
           "Strategy: NAME or NAME:KNOB=VALUE,... (see poise strategies); exec:COMMAND or "
           "plugin:FILE.so of your own");
  add_exec_limit(*command, options->limit);
  add_text(*command, "-o,--output", "FILE", options->output,
           "Write the placement: one place number per line, task by task; .json for JSON; "
           "- for stdout");
  add_count(*command, "--every", "K", options->every,
            "Phases until the next decision: for the total, and for strategy poise", 1);
  command->add_flag("--json", options->json, "Print one JSON document and nothing else");
  command->footer(
      "Example: poise plan step.poise --strategy nuco --machine \"node:4 numa:2 core:8\" -o "
      "places");
  command->callback([options] { plan(*options); });
}

}  // namespace poise::apps
