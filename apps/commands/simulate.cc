// `poise simulate`: replays a trace as if a strategy had moved tasks every K steps.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "apps/analysis/inputs.h"
#include "apps/analysis/simulation.h"
#include "apps/commands/commands.h"
#include "apps/report/metrics.h"
#include "apps/report/simulate_page.h"
#include "apps/text/command_line.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"

namespace poise::apps {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  InputOptions input;
  std::string strategies, html, beyond = "hold", decision_time = "measured";
  std::uint64_t steps = 100, every = 10;
  bool overlap = false, json = false;
};

/// Limits memory, because every step of every strategy is stored.
constexpr std::uint64_t kMaxSteps = 1'000'000;

constexpr std::string_view kBeyond[] = {"hold", "cycle"};

ReplayPlan plan_of(const Options& options) {
  if (options.beyond != kBeyond[0] && options.beyond != kBeyond[1])
    throw Error(unknown_name("--beyond", options.beyond, kBeyond));
  if (options.steps > kMaxSteps)
    fail("--steps {} is too large; at most {} can be simulated", options.steps, kMaxSteps);
  return {.steps = options.steps,
          .every = options.every,
          .beyond = options.beyond == kBeyond[0] ? Beyond::hold : Beyond::cycle,
          .overlap = options.overlap,
          .seed = options.input.seed};
}

DecisionCost decision_cost_of(const std::string& text) {
  if (text == "measured") return std::nullopt;
  const auto cost_s = parse_duration_s(text);
  if (!cost_s) fail("--decision-time takes \"measured\" or a time such as 2ms, not \"{}\"", text);
  return cost_s;
}

std::vector<Choice> choices_of(const std::string& text) {
  if (!text.empty()) return parse_strategies(text);
  std::vector<Choice> choices;
  for (const Strategy& strategy : strategies())
    if (strategy.name != "keep" && !strategy.is_oracle)
      choices.push_back(parse_strategy(strategy.name));
  return choices;
}

/// True if the cost of the migrations is known. It is not if tasks of unknown size move.
bool knows_migrations(const Simulation& simulation, const Replay& replay) {
  return knows_migration_cost(replay.migrations, simulation.has_sizes);
}

void add_column(Table& table, const Simulation& simulation, const char* heading,
                const std::function<std::optional<double>(const Replay&)>& value,
                Unit (*unit)(double) = nullptr) {
  Figures figures{heading, {}, unit};
  for (const auto& row : simulation.rows)
    if (row.error.empty()) figures.values.push_back(value(row.replay));
  add_figures(table, figures);
}

void add_changes(Table& table, const Simulation& simulation) {
  table.headings.insert(table.headings.end(), {"vs\nnone\n ", "vs\nbound\n "});
  for (std::size_t r = 0; r < simulation.rows.size(); ++r) {
    if (!simulation.rows[r].error.empty()) continue;
    const double total_s = simulation.rows[r].replay.total_s;
    table.rows[r].cells.push_back(change_text(total_s, simulation.unbalanced().total_s));
    table.rows[r].cells.push_back(change_text(total_s, simulation.total_bound_s));
  }
}

Table table_of(const Simulation& simulation) {
  Table table{{"strategy\n "}, {}};
  for (std::size_t r = 0; r < simulation.rows.size(); ++r) {
    const bool is_best = r == simulation.best;
    table.rows.push_back({{(is_best ? "* " : "  ") + simulation.rows[r].strategy},
                          simulation.rows[r].error,
                          is_best});
  }
  const auto number = [](auto member) {
    return [member](const Replay& replay) { return static_cast<double>(replay.*member); };
  };
  const auto migration_cost = [&](auto member) {
    return [&, member](const Replay& replay) {
      return knows_migrations(simulation, replay)
                 ? std::optional(static_cast<double>(replay.*member))
                 : std::nullopt;
    };
  };
  add_column(table, simulation, "total", number(&Replay::total_s), time_unit);
  add_changes(table, simulation);
  add_column(table, simulation, "efficiency",
             [&](const Replay& replay) { return efficiency(simulation, replay); });
  add_column(table, simulation, "iterations", number(&Replay::iteration_s), time_unit);
  add_column(table, simulation, "moving", migration_cost(&Replay::migration_s), time_unit);
  add_column(table, simulation, "deciding", number(&Replay::decision_s), time_unit);
  add_column(table, simulation, "moved\ntasks", number(&Replay::migrations));
  add_column(table, simulation, "moved", migration_cost(&Replay::migrated_bytes), byte_unit);
  if (simulation.plan.overlap)
    add_column(table, simulation, "over-\nlapped", number(&Replay::overlapped_s), time_unit);
  return table;
}

std::string plan_text(const ReplayPlan& plan) {
  return fmt::format("{} steps, a decision every {}", count_text(plan.steps),
                     count_text(plan.every));
}

std::string text_of(const Simulation& simulation) {
  const auto& best = simulation.rows[simulation.best];
  return plan_text(simulation.plan) + "\n\n" +
         render(table_of(simulation), terminal_width(), has_colours()) +
         fmt::format("\niterations at least {} in all\n* best: {} takes {}, {} without balancing\n",
                     seconds_text(simulation.total_bound_s), best.strategy,
                     seconds_text(best.replay.total_s),
                     seconds_text(simulation.unbalanced().total_s));
}

Json series_of(const Replay& replay, bool has_overlap) {
  Json iteration_s = Json::array(), makespan_s = Json::array(), end_s = Json::array();
  Json decisions = Json::array();
  for (std::size_t step = 0; step < replay.steps.size(); ++step) {
    const ReplayStep& result = replay.steps[step];
    iteration_s.push_back(result.iteration_s);
    makespan_s.push_back(result.makespan_s);
    end_s.push_back(result.overlapped_end_s);
    if (result.migrations == 0 && result.decision_s == 0) continue;
    decisions.push_back({{"before_step", step},
                         {"decision_s", result.decision_s},
                         {"migration_s", result.migration_s},
                         {"migrations", result.migrations},
                         {"migrated_bytes", result.migrated_bytes}});
  }
  Json series{{"iteration_s", std::move(iteration_s)},
              {"makespan_s", std::move(makespan_s)},
              {"decisions", std::move(decisions)}};
  if (has_overlap) series["overlapped_end_s"] = std::move(end_s);
  return series;
}

Json json_of(const Simulation::Row& row, const Simulation& simulation) {
  if (!row.error.empty()) return {{"strategy", row.strategy}, {"error", row.error}};
  const Replay& replay = row.replay;
  const bool knows_cost = knows_migrations(simulation, replay);
  const bool is_balanced = &row != &simulation.rows.front();
  Json json{{"strategy", is_balanced ? Json(row.strategy) : Json(nullptr)},
            {"total_s", replay.total_s},
            {"iteration_s", replay.iteration_s},
            {"migration_s", knows_cost ? Json(replay.migration_s) : Json(nullptr)},
            {"decision_s", replay.decision_s},
            {"decisions", replay.decisions},
            {"migrations", replay.migrations},
            {"migrated_bytes", knows_cost ? Json(replay.migrated_bytes) : Json(nullptr)},
            {"efficiency", efficiency(simulation, replay)},
            {"speed_up", replay.total_s > 0 ? simulation.unbalanced().total_s / replay.total_s : 1},
            {"best", &row == &simulation.rows[simulation.best]}};
  if (simulation.plan.overlap) json["overlapped_s"] = replay.overlapped_s;
  json["series"] = series_of(replay, simulation.plan.overlap);
  return json;
}

Json json_of(const Simulation& simulation, const Options& options, const Json& problem) {
  Json json = problem;
  json["steps"] = options.steps;
  json["every"] = options.every;
  json["beyond"] = options.beyond;
  json["total_bound_s"] = simulation.total_bound_s;
  json["total_average_s"] = simulation.total_average_s;
  json["bound_s"] = simulation.bound_s;
  json["results"] = Json::array();
  for (const auto& row : simulation.rows) json["results"].push_back(json_of(row, simulation));
  return json;
}

/// Replays the trace from the chosen phase on, on the given machine.
Replayer replayer_of(Inputs& inputs, const ReplayPlan& plan) {
  const Problem problem = inputs.on(0);
  return {inputs.trace_from_phase(), problem.machine, problem.current, plan};
}

Simulation simulate_all(const Replayer& replayer, const std::vector<Choice>& choices,
                        DecisionCost cost) {
  Progress progress;
  progress.show("without balancing");
  Simulation simulation = begin_simulation(replayer);
  for (const Choice& choice : choices) {
    progress.show(
        fmt::format("{} ({} of {})", choice.text(), simulation.rows.size(), choices.size()));
    add_row(simulation, replayer, contender_of(choice), cost);
  }
  const auto failed = [](const Simulation::Row& row) { return !row.error.empty(); };
  if (std::all_of(simulation.rows.begin() + 1, simulation.rows.end(), failed))
    throw std::runtime_error(fmt::format("no strategy can work on this trace; {}: {}",
                                         simulation.rows[1].strategy, simulation.rows[1].error));
  return simulation;
}

void simulate(const Options& options) {
  const std::vector<Choice> choices = choices_of(options.strategies);
  const ReplayPlan plan = plan_of(options);
  const DecisionCost cost = decision_cost_of(options.decision_time);
  if (!options.html.empty()) check_writable(options.html);
  Inputs inputs(options.input);
  const Replayer replayer = replayer_of(inputs, plan);
  const std::string heading = heading_text(options.input, inputs.phase(), replayer.machine());
  Simulation simulation = simulate_all(replayer, choices, cost);
  simulation.has_sizes = has_sizes(inputs.phase().workload);
  if (!options.html.empty())
    write_file(options.html, simulate_page(simulation, trace_text(options.input, inputs.phase()) +
                                                           "; " + plan_text(plan)));
  const Json problem = json_of_problem(options.input, inputs.phase(), replayer.machine());
  print(options.json ? json_of(simulation, options, problem).dump(2) + "\n"
                     : heading + text_of(simulation),
        inputs.notes());
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("simulate", "Replay a trace with each strategy over many steps");
  add_input_options(*command, options->input, "--placement");
  command
      ->add_option("-s,--strategies", options->strategies,
                   "Strategies: NAME[:KNOB=VALUE,...],... (default: all but the oracles; see poise "
                   "strategies)")
      ->type_name("LIST");
  add_count(*command, "--steps", "N", options->steps, "Steps to run", 1);
  add_count(*command, "--every", "K", options->every, "Steps between two decisions", 1);
  command
      ->add_option("--beyond", options->beyond,
                   "Steps after the last phase: hold repeats the last one, cycle repeats all")
      ->type_name("HOW")
      ->capture_default_str();
  command
      ->add_option("--decision-time", options->decision_time,
                   "Cost of each decision: as measured here, or a time such as 0s or 2ms")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_flag("--overlap", options->overlap,
                    "Also simulate places that wait for messages only, not for each other");
  command->add_option("--html", options->html, "Write a page with the time of every step as lines")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON document and nothing else");
  command->footer(
      "A decision before step K sees the loads and messages of step K - 1; decisions and\n"
      "migrations stop the whole program. The same input gives the same output with a fixed\n"
      "--decision-time.\n\n"
      "Example: poise simulate step.poise -s greedy,refine --steps 200 --every 20");
  command->callback([options] { simulate(*options); });
}

}  // namespace poise::apps
