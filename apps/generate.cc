// `poise generate`: writes a trace of a synthetic workload.
#include "poise/workload/generate.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/command_line.h"
#include "apps/commands.h"
#include "apps/format.h"
#include "apps/knobs.h"
#include "apps/output.h"

#include "poise/base/error.h"
#include "poise/machine/find.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/trace/trace.h"
#include "poise/workload/loads.h"

namespace poise::apps {

namespace {

struct Options {
  std::string kind, machine, placement, output;
  std::optional<std::uint64_t> tasks;
  std::uint64_t places = 64, phases = 1, seed = 0;
  bool list = false, json = false;
};

constexpr int kIndent = 4;

constexpr auto kPlain = load_knobs(LoadDefaults{});

/// What a kind starts from where it differs from a plain one; the knobs every kind has come last.
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

/// A count that fits the library's numbers.
std::uint32_t narrow(std::uint64_t value, const char* flag) {
  if (value >= std::numeric_limits<std::uint32_t>::max())
    fail("{} {} is too many; it takes less than 2^32", flag, value);
  return static_cast<std::uint32_t>(value);
}

Trace trace_of(const Options& options) {
  const Recipe recipe = parse_recipe(options.kind);
  Trace trace;
  if (!options.machine.empty()) trace.machine = find_machine(options.machine);
  trace.num_places =
      trace.machine ? trace.machine->num_places() : narrow(options.places, "--places");
  const std::string_view start =
      options.placement.empty() ? recipe.kind->start : std::string_view(options.placement);
  // Bad names are refused before the long work.
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

std::string summary_of(const Options& options, const Trace& trace) {
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

void run(const Options& options) {
  if (options.list) return print(options.json ? json_of_kinds() : list_of_kinds());
  if (options.kind.empty()) fail("generate: which KIND? poise generate --list shows them");
  parse_recipe(options.kind);  // a kind that is not there is named before what is missing
  if (!options.tasks) fail("generate: how many --tasks?");
  if (options.output.empty()) fail("generate: where to? -o TRACE names the file");
  check_writable(options.output);
  check_form(options.output);
  const Trace trace = trace_of(options);
  write_trace(trace, options.output);
  print(summary_of(options, trace));
}

}  // namespace

void add_generate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("generate", "Write a trace of a synthetic workload");
  command->add_option("KIND", options->kind, "KIND or KIND:KNOB=VALUE,... (see --list)")
      ->type_name("");
  add_count(*command, "--tasks", "N", options->tasks,
            "Number of tasks; leanmd takes the nearest it can");
  add_count(*command, "--phases", "P", options->phases,
            "Phases; loads change as the knobs drift, hot_speed and hot_growth say", 1);
  command
      ->add_option("-m,--machine", options->machine,
                   "Machine kept in the trace: live, a file, a name or text")
      ->type_name("M");
  add_count(*command, "--places", "N", options->places, "Places where no machine is given", 1);
  command
      ->add_option("--placement", options->placement,
                   fmt::format("Where tasks lie at first: {} (by default as the kind says)",
                               fmt::join(initial_placements(), ", ")))
      ->type_name("NAME");
  add_count(*command, "--seed", "S", options->seed, "The same seed, the same bytes");
  command->add_option("-o,--output", options->output, "The trace; its ending says the form")
      ->type_name("TRACE");
  command->add_flag("--list", options->list, "List the kinds and their knobs");
  command->add_flag("--json", options->json, "With --list: as one JSON document");
  command->footer(
      "Example: poise generate stencil3d:hot=3,drift=0.1 --tasks 97336 --phases 5 -o step.poise");
  command->callback([options] { run(*options); });
}

}  // namespace poise::apps
