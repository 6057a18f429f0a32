// SPDX-License-Identifier: BSD-3-Clause
// `poise compare`: runs several strategies on one problem and compares their placements, with
// bounds and pictures.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "apps/analysis/comparison.h"
#include "apps/analysis/inputs.h"
#include "apps/commands/commands.h"
#include "apps/report/compare_page.h"
#include "apps/report/compare_table.h"
#include "apps/report/curve_table.h"
#include "apps/report/metrics.h"
#include "apps/text/command_line.h"
#include "apps/text/csv.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"

#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise::apps {

namespace {

struct CompareOptions {
  InputOptions input;
  std::optional<std::string> strategies;  // nothing: all strategies
  std::vector<std::string> also;
  std::string html, limit{kExecLimit};
  std::vector<std::string> timelines;
  std::uint64_t every = 10;
  bool curve = false, wide = false, json = false, csv = false, markdown = false;
};

constexpr std::size_t kColumns = 80;  // width of tables if stdout is not a terminal

std::vector<Contender> contenders_of(const CompareOptions& options) {
  std::vector<Contender> contenders;
  if (options.strategies)
    contenders = parse_contenders(*options.strategies, limit_s(options.limit));
  for (const Strategy& strategy : strategies())
    if (!options.strategies && !strategy.is_oracle)
      contenders.push_back(contender_of(parse_strategy(strategy.name)));
  for (const std::string& file : options.also) {
    Contender contender = contender_of_file(file);
    if (std::any_of(contenders.begin(), contenders.end(),
                    [&](const Contender& other) { return other.name == contender.name; }))
      fail(
          "--also {}: \"{}\" is already the name of another strategy in the table; give another "
          "NAME",
          file, contender.name);
    contenders.push_back(std::move(contender));
  }
  return contenders;
}

std::string text_of_comparison(const Comparison& comparison, const std::vector<CurvePoint>& curve,
                               const CompareOptions& options, const Phase& phase) {
  const Table table = comparison_table(comparison, options.every, options.wide);
  const std::size_t width = terminal_width() > 0 ? terminal_width() : options.wide ? 0 : kColumns;
  std::string text = heading_text(options.input, phase, comparison.machine) + "\n" +
                     render(table, width, has_colours()) + "\n" + text_of(comparison.bounds) +
                     "\n" +
                     fmt::format("no placement has an iteration below {}\n",
                                 seconds_text(comparison.iteration_bound_s));
  const Comparison::Row& best = comparison.best_row();
  if (best.least_nuco_messages > 0)
    text += fmt::format("as balanced as the best: at least {:.0f} NUCO messages\n",
                        std::floor(best.least_nuco_messages));
  text += fmt::format("* best: {} takes {} per iteration; without a move it is {}\n", best.strategy,
                      seconds_text(best.metrics.iteration_s),
                      seconds_text(comparison.keep.iteration_s));
  if (!curve.empty())
    text += "\n" + curve_text(curve, best.strategy, options.every, comparison.has_sizes);
  return text;
}

std::string markdown_of_comparison(const Comparison& comparison, const CompareOptions& options,
                                   const Phase& phase) {
  return fmt::format("{}, on {}:\n\n", trace_text(options.input, phase),
                     comparison.machine.name()) +
         markdown(comparison_table(comparison, options.every, options.wide));
}

/// Returns the row of one machine in the table that summarises all machines. The row compares the
/// iteration time of the current placement with that of the best strategy.
Table::Row summary_row(const Comparison& comparison) {
  const Comparison::Row& best = comparison.best_row();
  return {{comparison.machine.name(), count_text(comparison.machine.num_places()),
           seconds_text(comparison.keep.iteration_s), best.strategy,
           seconds_text(best.metrics.iteration_s),
           change_text(best.metrics.iteration_s, comparison.keep.iteration_s),
           change_text(best.metrics.iteration_s, comparison.iteration_bound_s)}};
}

nlohmann::ordered_json json_of_comparison(const Comparison& comparison,
                                          const std::vector<CurvePoint>& curve,
                                          const CompareOptions& options, const Phase& phase) {
  auto results = nlohmann::ordered_json::array();
  for (const Comparison::Row& row : comparison.rows) {
    nlohmann::ordered_json json{{"strategy", row.strategy}};
    json.update(json_of_problem(options.input, phase, comparison.machine));
    if (!row.error.empty()) {
      json["error"] = row.error;
      results.push_back(std::move(json));
      continue;
    }
    json["decision_s"] = row.decision_s;
    json["decision_wall_s"] = row.decision_wall_s;
    add_metrics(json, row.metrics, comparison.has_sizes);
    json["bounds"] = json_of(comparison.bounds);
    json["iteration_bound_s"] = comparison.iteration_bound_s;
    json["migrations_bound"] = row.least.tasks;
    json["migrated_bytes_bound"] = row.least.bytes;
    json["nuco_messages_bound"] = row.least_nuco_messages;
    json["every"] = options.every;
    json["amortised_s"] = amortised_s(row.metrics, row.decision_s, options.every);
    json["best"] = comparison.best == results.size();
    if (json["best"] && !curve.empty())
      json["curve"] = json_of(curve, options.every, comparison.has_sizes);
    results.push_back(std::move(json));
  }
  return results;
}

Comparison compare_on(const Problem& problem, const std::vector<Contender>& contenders) {
  Comparison comparison = begin_comparison(problem);
  Progress progress;
  for (const Contender& contender : contenders) {
    progress.show(fmt::format("{} ({} of {})", contender.name, comparison.rows.size() + 1,
                              contenders.size()));
    add_row(comparison, contender, problem);
  }
  return comparison;
}

std::string failure_of(const Comparison& comparison) {
  return fmt::format("every strategy failed on {}; {} failed with: {}", comparison.machine.name(),
                     comparison.rows[0].strategy, comparison.rows[0].error);
}

std::vector<std::string> input_files(const CompareOptions& options) {
  std::vector<std::string> files = options.input.files();
  files.insert(files.end(), options.timelines.begin(), options.timelines.end());
  for (const std::string& also : options.also) files.push_back(also.substr(also.find('=') + 1));
  return files;
}

void check_html(const CompareOptions& options) {
  std::vector<std::string> kept = input_files(options);
  for (std::string& file : strategy_files(options.strategies.value_or("")))
    kept.push_back(std::move(file));
  check_outputs({options.html}, options.input.kept_files(std::move(kept)));
}

void compare(const CompareOptions& options) {
  check_stdin(input_files(options));
  const std::vector<Contender> contenders = contenders_of(options);
  check_html(options);
  std::vector<Timeline> timelines;
  timelines.reserve(options.timelines.size());
  for (const std::string& path : options.timelines) timelines.push_back(read_timeline(path));
  Inputs inputs(options.input);
  std::vector<std::string> memory_notes;
  auto results = nlohmann::ordered_json::array();
  std::string text, failure;
  Table summary{{"machine", "places", "now", "best", "iteration", "against now", "above bound"},
                {}};
  std::vector<ComparePart> parts;
  for (std::size_t m = 0; m < inputs.num_machines(); ++m) {
    Problem problem = inputs.on(m);
    problem.steps = options.every;
    Comparison comparison = compare_on(problem, contenders);
    for (const Comparison::Row& row : comparison.rows)
      if (!row.memory_note.empty()) memory_notes.push_back(row.memory_note);
    std::vector<CurvePoint> curve;
    if (options.curve && comparison.best) curve = curve_of(problem, comparison.best_placement);
    for (auto& row : json_of_comparison(comparison, curve, options, inputs.phase()))
      results.push_back(std::move(row));
    if (!comparison.best) {
      failure = failure_of(comparison);
      continue;
    }
    text += (text.empty() ? "" : "\n") +
            (options.markdown ? markdown_of_comparison(comparison, options, inputs.phase())
                              : text_of_comparison(comparison, curve, options, inputs.phase()));
    summary.rows.push_back(summary_row(comparison));
    if (!options.html.empty())
      parts.push_back(
          with_pictures(std::move(comparison), problem, inputs.trace(), std::move(curve)));
  }
  if (summary.rows.size() > 1)
    text += "\n" + (options.markdown ? markdown(summary) : render(summary, terminal_width()));
  if (options.csv) text = csv_of(results);
  const std::string json = document_text({{"results", std::move(results)}});
  if (options.json) text = json;
  if (!options.html.empty() && !parts.empty())
    write_file(options.html, compare_page(parts, trace_text(options.input, inputs.phase()),
                                          options.every, timelines, json));
  std::vector<std::string> notes(inputs.notes().begin(), inputs.notes().end());
  notes.insert(notes.end(), memory_notes.begin(), memory_notes.end());
  if (!text.empty()) print(text, notes);
  if (!failure.empty()) throw std::runtime_error(failure);
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Compare strategies side by side, with lower bounds");
  add_input_options(*command, options->input, "--placement");
  add_capacity(*command, options->input);
  allow_many_machines(*command);
  command
      ->add_option("-s,--strategies", options->strategies,
                   "Strategies: NAME[:KNOB=VALUE,...],... (default: all but the oracles; see poise "
                   "strategies), exec:COMMAND and plugin:FILE.so of your own")
      ->type_name("LIST");
  command
      ->add_option("--also", options->also,
                   "Also compare the placement in FILE, as NAME; may be repeated")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  add_exec_limit(*command, options->limit);
  CLI::Option* html =
      add_text(*command, "--html", "FILE", options->html,
               "Write an HTML page with pictures: loads, communication, the machine");
  command
      ->add_option(
          "--timeline", options->timelines,
          "Draw on the page what every place did in a run, as for poise timeline; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->needs(html);
  add_count(*command, "--every", "K", options->every,
            "Phases until the next decision: for the total, and for strategy poise", 1);
  command->add_flag("--wide", options->wide,
                    "More columns: traffic, bytes moved, time of moving and deciding");
  CLI::Option* curve = command->add_flag(
      "--curve", options->curve,
      "Also the total time if only the most useful moves of the best strategy are made");
  CLI::Option* json =
      command->add_flag("--json", options->json, "Print one JSON document and nothing else");
  CLI::Option* csv = command->add_flag("--csv", options->csv,
                                       "Print the keys of --json as comma-separated values");
  command->add_flag("--markdown", options->markdown, "Print the table in Markdown")
      ->excludes(curve)
      ->excludes(json)
      ->excludes(csv);
  csv->excludes(json);
  curve->excludes(csv);
  command->footer(
      "The strategy with the shortest iteration comes first (ties: the fewest bytes moved). The\n"
      "row of a strategy that fails says why; if all strategies fail, the exit status is 1. If\n"
      " --machine is repeated, there is one table per machine.\n\n"
      "Example: poise compare step.poise --machine NUMA32 --strategies greedy,nuco:alpha=1e-4");
  command->callback([options] { compare(*options); });
}

}  // namespace poise::apps
