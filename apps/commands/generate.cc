// SPDX-License-Identifier: BSD-3-Clause
// `poise generate`: writes a trace of a synthetic workload.
#include "poise/workload/generate.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/commands/commands.h"
#include "apps/text/command_line.h"
#include "apps/text/format.h"
#include "apps/text/knobs.h"
#include "apps/text/output.h"

#include "poise/base/error.h"
#include "poise/machine/find.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/trace/trace.h"
#include "poise/workload/loads.h"

namespace poise::apps {

namespace {

struct GenerateOptions {
  std::string kind, machine, placement, output;
  std::optional<std::uint64_t> tasks;
  std::uint64_t places = 64, phases = 1, seed = 0;
  bool list = false, json = false;
};

constexpr int kIndent = 4;

constexpr auto kPlain = load_knobs(LoadDefaults{});

/// All kinds of workload have the load knobs. Lists those load knobs whose default value in this
/// kind differs from the usual default.
std::string differing_settings(const Kind& kind) {
  std::string text;
  const auto shared = kind.knobs.last(kNumLoadKnobs);
  for (std::size_t i = 0; i < shared.size(); ++i)
    if (shared[i].initial != kPlain[i].initial)
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", shared[i].name,
                          value_text(shared[i], shared[i].initial));
  return text;
}

std::string list_of_kinds() {
  std::string text = "Kinds, each KIND or KIND:KNOB=VALUE,...\n\n";
  for (const Kind& kind : kinds()) {
    text += fmt::format("{}: {}\n", kind.name, kind.summary);
    if (kind.source != "-") text += fmt::format("{:{}}source: {}\n", "", kIndent, kind.source);
    text += fmt::format("{:{}}placement: {}\n", "", kIndent, kind.start);
    if (const std::string settings = differing_settings(kind); !settings.empty())
      text += fmt::format("{:{}}starts with {}\n", "", kIndent, settings);
    text += list_of(kind.knobs.first(kind.knobs.size() - kNumLoadKnobs), kIndent) + "\n";
  }
  return text + "Knobs of every kind\n" + list_of(kPlain, kIndent);
}

std::string json_of_kinds() {
  auto list = nlohmann::ordered_json::array();
  for (const Kind& kind : kinds())
    list.push_back({{"name", kind.name},
                    {"summary", kind.summary},
                    {"source", kind.source},
                    {"placement", kind.start},
                    {"knobs", json_of(kind.knobs)}});
  return nlohmann::ordered_json{{"kinds", list}}.dump(2) + "\n";
}

/// Converts the count to 32 bits, the type that the library uses.
std::uint32_t narrow(std::uint64_t value, const char* flag) {
  if (value >= std::numeric_limits<std::uint32_t>::max())
    fail("{} {} is too large; it must be below 4294967295", flag, value);
  return value;
}

Trace trace_of(const GenerateOptions& options) {
  const Recipe recipe = parse_recipe(options.kind);
  Trace trace;
  if (!options.machine.empty()) trace.machine = find_machine(options.machine);
  trace.num_places =
      trace.machine ? trace.machine->num_places() : narrow(options.places, "--places");
  const std::string_view start =
      options.placement.empty() ? recipe.kind->start : std::string_view(options.placement);
  // Checks the name of the placement before the long computation begins.
  initial_placement(start, 1, trace.num_places, options.seed);

  auto workloads = generate(recipe, narrow(*options.tasks, "--tasks"), options.seed,
                            narrow(options.phases, "--phases"));
  for (Workload& workload : workloads) {
    Phase phase;
    phase.id = trace.phases.size();
    phase.placement =
        initial_placement(start, workload.num_tasks(), trace.num_places, options.seed);
    phase.workload = std::move(workload);
    trace.phases.push_back(std::move(phase));
  }
  return trace;
}

std::string summary_of(const GenerateOptions& options, const Trace& trace) {
  const Phase& first = trace.phases.front();
  const Machine machine = trace.machine.value_or(flat_machine(trace.num_places));
  const Metrics metrics =
      evaluate(machine, first.workload, machine.costs(), first.placement, first.placement);
  return fmt::format("{}: {} tasks, {} messages, {} phase{}, {} places, imbalance {}\n",
                     options.output, count_text(first.workload.num_tasks()),
                     count_text(first.workload.messages.size()), trace.phases.size(),
                     trace.phases.size() == 1 ? "" : "s", count_text(trace.num_places),
                     digits(metrics.imbalance));
}

void run(const GenerateOptions& options) {
  if (options.list && (!options.kind.empty() || options.tasks || !options.output.empty()))
    fail("--list writes no trace; leave out --list, or leave out KIND, --tasks and -o");
  if (options.list) return print(options.json ? json_of_kinds() : list_of_kinds());
  if (options.kind.empty()) fail("KIND is missing; poise generate --list shows the kinds");
  parse_recipe(options.kind);  // an unknown kind is reported before missing options
  if (!options.tasks) fail("--tasks N is missing; it is the number of tasks");
  if (options.output.empty()) fail("-o TRACE is missing; it is the file to write");
  check_outputs({options.output}, {options.machine});
  check_form(options.output);
  const Trace trace = trace_of(options);
  write_trace(trace, options.output);
  print(summary_of(options, trace));
}

}  // namespace

void add_generate(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand("generate", "Write a trace of a synthetic workload");
  command->add_option("KIND", options->kind, "KIND or KIND:KNOB=VALUE,... (see --list)")
      ->type_name("");
  add_count(*command, "--tasks", "N", options->tasks,
            "Number of tasks; leanmd takes the nearest possible number");
  add_count(*command, "--phases", "P", options->phases,
            "Number of phases; the knobs drift, hot_speed and hot_growth change loads", 1);
  add_text(*command, "-m,--machine", "M", options->machine,
           "Machine to record in the trace: live, job, a file, a name or text");
  add_count(*command, "--places", "N", options->places, "Number of places when no machine is given",
            1);
  command->get_option("--places")->excludes(command->get_option("--machine"));
  add_text(*command, "--placement", "NAME", options->placement,
           fmt::format("Initial placement: {} (default: the kind's)",
                       fmt::join(initial_placements(), ", ")));
  add_count(*command, "--seed", "S", options->seed, "Seed; the same seed gives the same file");
  add_text(*command, "-o,--output", "TRACE", options->output,
           "Trace to write; its suffix selects the format");
  command->add_flag("--list", options->list, "List the kinds and their knobs");
  command->add_flag("--json", options->json, "With --list: as one JSON document");
  command->footer(
      "Example: poise generate stencil3d:hot=3,drift=0.1 --tasks 97336 --phases 5 -o step.poise");
  command->callback([options] { run(*options); });
}

}  // namespace poise::apps
