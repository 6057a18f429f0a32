// SPDX-License-Identifier: BSD-3-Clause
// `poise evaluate`: prints all metrics of a given placement.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/analysis/inputs.h"
#include "apps/commands/commands.h"
#include "apps/report/metrics.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"

#include "poise/base/error.h"
#include "poise/placement/answer.h"
#include "poise/trace/placement_file.h"

namespace poise::apps {

namespace {

struct EvaluateOptions {
  InputOptions input;
  std::string placement;
  bool json = false;
};

void evaluate_placement(const EvaluateOptions& options) {
  std::vector<std::string> files = options.input.files();
  files.push_back(options.placement);
  check_stdin(files);
  Inputs inputs(options.input);
  const Placement given = read_placement(options.placement);
  const Problem problem = inputs.on(0, &given);
  try {
    check_answer(problem, given);
  } catch (const Error& error) {
    fail("{}: {}", options.placement, error.what());
  }
  const Metrics after =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, given);
  const MakespanBounds bounds = makespan_bounds(problem.machine, problem.workload, problem.current);
  if (options.json) {
    auto json = json_of_problem(options.input, inputs.phase(), problem.machine);
    add_metrics(json, after, has_sizes(problem.workload));
    json["bounds"] = json_of(bounds);
    print(document_text(json), inputs.notes());
    return;
  }
  const Metrics before =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, problem.current);
  print(heading_text(options.input, inputs.phase(), problem.machine) + "\n" +
            before_and_after(before, after, has_sizes(problem.workload)) + text_of(bounds) + "\n",
        inputs.notes());
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = app.add_subcommand("evaluate", "Print all metrics of a given placement");
  add_input_options(*command, options->input, "--from");
  command->remove_option(command->get_option("--seed"));  // for strategies only
  add_text(*command, "-p,--placement", "FILE", options->placement,
           "Placement to evaluate: one place number per line, task by task, or .json")
      ->required();
  command->add_flag("--json", options->json, "Print one JSON document and nothing else");
  command->footer(
      "Migrations are counted from the current placement. If the trace records no placement\n"
      "and neither --from nor --start is given, no task counts as moved.\n\n"
      "Example: poise evaluate step.poise --placement places --json");
  command->callback([options] { evaluate_placement(*options); });
}

}  // namespace poise::apps
