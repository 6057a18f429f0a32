// SPDX-License-Identifier: BSD-3-Clause
// `poise theory`: predicts how much a run of n threads on m cpus gains from balancing, by the
// formulas of the paper on Juggle (Hofmeyr et al., HPDC 2011) and by simulating Juggle's algorithm
// in an idealised form. `--figure` prints the data of that paper's curves.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/commands/commands.h"
#include "apps/text/command_line.h"
#include "apps/text/format.h"
#include "apps/text/output.h"

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/simulate/figures.h"
#include "poise/simulate/outlook.h"

namespace poise::apps {

namespace {

using Json = nlohmann::ordered_json;

struct TheoryOptions {
  std::optional<std::uint64_t> threads, cpus;
  std::string phase, period = "100ms", figure;
  std::uint64_t phases = 1, domains = 1, seed = 0;
  double jitter = 0;
  bool json = false;
};

double seconds(const char* flag, const std::string& text) {
  const auto duration_s = parse_duration_s(text);
  if (!duration_s) fail("{} takes a time such as 30s, 100ms or 50us, not \"{}\"", flag, text);
  return *duration_s;
}

OutlookQuestion question_from(const TheoryOptions& options) {
  if (!options.threads || !options.cpus || options.phase.empty())
    fail(
        "--threads, --cpus and --phase must all be given; example: --threads 8 --cpus 7 --phase "
        "30s");
  return {.program = {.threads = *options.threads,
                      .places = *options.cpus,
                      .phase_s = seconds("--phase", options.phase),
                      .phases = options.phases},
          .period_s = seconds("--period", options.period),
          .domains = options.domains,
          .jitter = options.jitter,
          .seed = options.seed};
}

Json to_json(const JuggleOutcome& outcome) {
  return {{"completion_s", outcome.completion_s},
          {"balancing_points", outcome.balancing_points},
          {"migrations", outcome.migrations}};
}

Json to_json(const Outlook& outlook) {
  const OutlookQuestion& question = outlook.question;
  const Slots slots = slots_of(question.program);
  Json simulated = to_json(outlook.simulated), hybrid = to_json(outlook.simulated_hybrid);
  simulated.erase("migrations");  // this model does not count migrations
  hybrid.erase("migrations");
  return {{"threads", question.program.threads},
          {"cpus", question.program.places},
          {"phase_s", question.program.phase_s},
          {"phases", question.program.phases},
          {"period_s", question.period_s},
          {"domains", question.domains},
          {"jitter", question.jitter},
          {"slow_slots", slots.slow},
          {"fast_slots", slots.fast},
          {"static_s", outlook.static_s},
          {"reactive_s", outlook.reactive_s},
          {"proactive_bound_s", outlook.bound_s},
          {"proactive_approximation_s", outlook.approximation_s},
          {"ideal_s", outlook.ideal_s},
          {"simulated", simulated},
          {"simulated_swaps", to_json(outlook.simulated_swaps)},
          {"simulated_hybrid", hybrid},
          {"advice", outlook.advice}};
}

std::string row(const char* what, double time_s, const Outlook& outlook, std::string_view source) {
  return fmt::format("{:<24} {:>12.6g} {:>9.4f}  {}\n", what, time_s, outlook.static_s / time_s,
                     source);
}

std::string text_of(const Outlook& outlook) {
  const OutlookQuestion& question = outlook.question;
  const bool is_sequence = question.program.phases > 1;
  const JuggleOutcome& swaps = outlook.simulated_swaps;
  const double migrations = swaps.migrations / swaps.completion_s;
  std::string text = fmt::format(
      "{} threads on {} cpus{}, {} x {} of computation, a period of {}\n\n{:<24} {:>12} {:>9}\n",
      question.program.threads, question.program.places,
      question.domains > 1 ? fmt::format(" in {} domains", question.domains) : "",
      question.program.phases, seconds_text(question.program.phase_s),
      seconds_text(question.period_s), "", "time s", "speed-up");
  text += row("static", outlook.static_s, outlook, "(1): threads stay where they start");
  text += row("reactive", outlook.reactive_s, outlook, "(19-21): they move when others block");
  text += row("proactive, bound", outlook.bound_s, outlook, is_sequence ? "(15)" : "(2), (14)");
  if (is_sequence)
    text += row("proactive, about", outlook.approximation_s, outlook, "(16), (17), (18)");
  text += row("proactive, simulated", outlook.simulated.completion_s, outlook,
              "the idealised algorithm, by sorting");
  text += row("  with swaps", swaps.completion_s, outlook,
              fmt::format("as juggle does it: {:.3g} migrations a second", migrations));
  text += row("hybrid, simulated", outlook.simulated_hybrid.completion_s, outlook,
              "proactive and reactive at once");
  text += row("ideal", outlook.ideal_s, outlook, "(14, 15): the limit of ever shorter periods");
  return text + "\n" + outlook.advice + "\n";
}

std::string json_of(const Figure& figure) {
  const FigureData data = figure.compute();
  return Json{{"figure", figure.name},
              {"title", figure.title},
              {"columns", data.columns},
              {"rows", data.rows}}
             .dump() +
         "\n";
}

std::string csv_of(const Figure& figure) {
  const FigureData data = figure.compute();
  std::string text = fmt::format("{}\n", fmt::join(data.columns, ","));
  for (const auto& row : data.rows)
    fmt::format_to(std::back_inserter(text), "{:.9g}\n", fmt::join(row, ","));
  return text;
}

std::string names_of_figures() {
  std::vector<std::string_view> names;
  for (const Figure& figure : figures()) names.push_back(figure.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void run(const TheoryOptions& options) {
  if (!options.figure.empty()) {
    const Figure& figure = figure_named(options.figure);
    print(options.json ? json_of(figure) : csv_of(figure));
    return;
  }
  const Outlook result = outlook(question_from(options));
  print(options.json ? to_json(result).dump(2) + "\n" : text_of(result));
}

}  // namespace

void add_theory(CLI::App& app) {
  auto options = std::make_shared<TheoryOptions>();
  CLI::App* command = app.add_subcommand(
      "theory", "Predict the gain of balancing threads: bounds, idealised simulation, advice");
  auto* threads = add_count(*command, "--threads", "N", options->threads, "Threads of the program");
  auto* cpus = add_count(*command, "--cpus", "M", options->cpus, "Cpus it may use");
  auto* phase =
      add_text(*command, "--phase", "TIME", options->phase,
               "Time a thread computes between two barriers on a cpu of its own: 30s, 5ms");
  auto* period = add_text(*command, "--period", "TIME", options->period,
                          "Time between two balancing points, such as 500us");
  auto* phases =
      add_count(*command, "--phases", "N", options->phases, "Number of consecutive phases", 1);
  auto* domains = add_count(
      *command, "--domains", "N", options->domains,
      "Memory domains that threads do not leave; their sizes differ by at most one cpu", 1);
  auto* jitter = command
                     ->add_option("--jitter", options->jitter,
                                  "Random variation of each period, as a share of it, below 1")
                     ->type_name("SHARE")
                     ->capture_default_str();
  auto* seed = add_count(*command, "--seed", "N", options->seed, "Seed of the jitter");
  add_text(*command, "--figure", "NAME", options->figure,
           "The data of a figure of the Juggle paper, or of a question that it leaves open, "
           "as CSV or JSON: " +
               names_of_figures())
      ->excludes(threads, cpus, phase, period, phases, domains, jitter, seed);
  command->add_flag("--json", options->json, "Print one JSON document and nothing else");
  command->footer("Example: poise theory --threads 8 --cpus 7 --phase 30s --period 100ms");
  command->callback([options] { run(*options); });
}

}  // namespace poise::apps
