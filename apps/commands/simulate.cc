// SPDX-License-Identifier: BSD-3-Clause
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
#include "apps/analysis/sweep.h"
#include "apps/commands/commands.h"
#include "apps/report/metrics.h"
#include "apps/report/simulate_page.h"
#include "apps/report/simulation_json.h"
#include "apps/report/simulation_table.h"
#include "apps/report/sweep_table.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"
#include "apps/text/table.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/simulate/tuning.h"

namespace poise::apps {

namespace {

using Json = nlohmann::ordered_json;

struct SimulateOptions {
  InputOptions input;
  std::string strategies, html, timeline, beyond = "hold", decision_time = "measured";
  std::string limit{kExecLimit};
  std::string engine = "formula", sharing = "fluid", loads, subphases = "no_wait";
  std::string every = "10", seeds = "0", places;  // several: a sweep
  std::uint64_t steps = 100, eager_bytes = EngineOptions().eager_bytes;
  std::optional<double> precision;
  std::string routing, juggle, news_delay;
  double link_bytes_per_s = 0;
  LendingOptions lending;
  MemoryPressure pressure;
  bool has_events_options = false, has_model = false, overlap = false, barrier = false;
  bool json = false;

  bool uses_events() const { return engine == "events"; }
};

/// The values over which a sweep runs: balancing periods in steps, seeds, and numbers of places.
/// The sweep replays every combination of these values.
struct Ranges {
  // If `places` is empty, every replay has as many places as the machine.
  std::vector<std::uint64_t> every, seeds, places;

  bool is_sweep() const { return every.size() * seeds.size() > 1 || !places.empty(); }
};

constexpr std::string_view kBeyond[] = {"hold", "cycle"};
constexpr std::string_view kEngines[] = {"formula", "events"};
constexpr std::string_view kSubphases[] = {"no_wait", "wait", "overlap"};  // as in SubphaseRule

/// Maximum number of spans (activities of a place) in a timeline, which limits its memory.
constexpr double kMaxTimeline = 2e7;  // places * steps

void check_engine(const SimulateOptions& options) {
  if (!options.uses_events() && options.engine != kEngines[0])
    throw Error(unknown_name("--engine", options.engine, kEngines));
  if (!options.uses_events() && options.has_events_options)
    fail(
        "--sharing, --routing, --link-bandwidth, --eager, --precision, --juggle, --pressure, "
        "--place-memory, --barrier and --timeline need the event engine; add --engine events");
  if (options.lending.is_on() && !options.juggle.empty())
    fail(
        "--juggle cannot be combined with --lend or --replicate; leave out --juggle, or leave out "
        "--lend and --replicate");
  if (options.pressure.place_bytes > 0 && options.pressure.factor <= 1)
    fail("--place-memory has an effect only together with --pressure, such as --pressure 4");
  if (options.uses_events() && options.has_model && options.input.model == "nuco")
    fail("--engine events computes message times by --model physical; leave out --model nuco");
}

LendingOptions lending_of(const SimulateOptions& options) {
  LendingOptions lending = options.lending;
  if (!lending.is_on() && !options.news_delay.empty())
    fail("--news-delay has an effect only if places run tasks of other places; add --lend");
  if (lending.shares_tokens && lending.replicated_share == 0)
    fail("--shared-tokens has an effect only on copies of tasks; add --replicate 0.5, for example");
  if (options.news_delay.empty()) return lending;
  const auto delay_s = parse_duration_s(options.news_delay);
  if (!delay_s) fail("--news-delay takes a time such as 10ms, not \"{}\"", options.news_delay);
  lending.news_delay_s = *delay_s;
  return lending;
}

Routing routing_of(const SimulateOptions& options) {
  Routing routing{.link_bytes_per_s = options.link_bytes_per_s};
  if (!options.routing.empty()) routing.policy = routing_named(options.routing);
  return routing;
}

std::optional<EngineOptions> events_of(const SimulateOptions& options) {
  if (!options.uses_events()) return std::nullopt;
  const auto period_s = options.juggle.empty() ? 0 : parse_duration_s(options.juggle);
  if (!period_s || (!options.juggle.empty() && *period_s == 0))
    fail("--juggle takes a period such as 100ms, not \"{}\"", options.juggle);
  return EngineOptions{.sharing = sharing_named(options.sharing),
                       .eager_bytes = options.eager_bytes,
                       .precision = options.precision,
                       .juggle_period_s = *period_s,
                       .routing = routing_of(options),
                       .pressure = options.pressure,
                       .has_barrier = options.barrier};
}

Ranges ranges_of(const SimulateOptions& options) {
  Ranges ranges;
  ranges.every = options.every == "auto" ? usual_periods(options.steps)
                                         : parse_counts("--every", options.every, 1);
  ranges.seeds = parse_counts("--seed", options.seeds, 0);
  if (!options.places.empty()) ranges.places = parse_counts("--places", options.places, 1);
  if (ranges.is_sweep() && (!options.html.empty() || !options.timeline.empty()))
    fail(
        "--html and --timeline show only one simulation; give only one value to --every and to "
        "--seed, and leave out --places");
  return ranges;
}

SubphaseRule subphases_of(const std::string& name) {
  const auto* const found = std::find(std::begin(kSubphases), std::end(kSubphases), name);
  if (found == std::end(kSubphases)) throw Error(unknown_name("--subphases", name, kSubphases));
  return static_cast<SubphaseRule>(found - std::begin(kSubphases));
}

ReplayPlan plan_of(const SimulateOptions& options) {
  if (options.beyond != kBeyond[0] && options.beyond != kBeyond[1])
    throw Error(unknown_name("--beyond", options.beyond, kBeyond));
  if (options.steps > simulate_tuning::kMaxSteps)
    fail("--steps {} is too large; at most {} can be simulated", options.steps,
         simulate_tuning::kMaxSteps);
  std::optional<LoadModel> loads;
  if (!options.loads.empty()) loads = parse_load_model(options.loads);
  return {.steps = options.steps,
          .beyond = options.beyond == kBeyond[0] ? Beyond::hold : Beyond::cycle,
          .overlap = options.overlap,
          .events = events_of(options),
          .loads = std::move(loads),
          .lending = lending_of(options),
          .subphases = subphases_of(options.subphases)};
}

DecisionCost decision_cost_of(const std::string& text) {
  if (text == "measured") return std::nullopt;
  const auto cost_s = parse_duration_s(text);
  if (!cost_s) fail("--decision-time takes \"measured\" or a time such as 2ms, not \"{}\"", text);
  return cost_s;
}

std::vector<Contender> contenders_of(const std::string& text, double limit_s) {
  if (!text.empty()) return parse_contenders(text, limit_s);
  std::vector<Contender> contenders;
  for (const Strategy& strategy : strategies())
    if (strategy.name != "keep" && !strategy.is_oracle)
      contenders.push_back(contender_of(parse_strategy(strategy.name)));
  return contenders;
}

/// Adds the options of `poise simulate` to the command line.
void add_plan(Json& json, const SimulateOptions& options) {
  json["steps"] = options.steps;
  json["beyond"] = options.beyond;
  json["engine"] = options.engine;
  if (options.uses_events()) {
    json["sharing"] = options.sharing;
    json["eager_bytes"] = options.eager_bytes;
    if (!options.routing.empty()) json["routing"] = options.routing;
    if (options.link_bytes_per_s > 0) json["link_bytes_per_s"] = options.link_bytes_per_s;
    if (!options.juggle.empty()) json["juggle"] = options.juggle;
    if (options.pressure.factor > 1) json["pressure"] = options.pressure.factor;
    if (options.pressure.place_bytes > 0) json["place_memory"] = options.pressure.place_bytes;
    if (options.barrier) json["barrier"] = true;
  }
  if (options.lending.lends) json["lend"] = true;
  if (options.lending.replicated_share > 0) {
    json["replicate"] = options.lending.replicated_share;
    json["shared_tokens"] = options.lending.shares_tokens;
  }
  if (!options.news_delay.empty()) json["news_delay"] = options.news_delay;
  if (options.subphases != kSubphases[0]) json["subphases"] = options.subphases;
  if (!options.loads.empty()) json["loads"] = parse_load_model(options.loads).text();
}

Json json_of(const Simulation& simulation, const SimulateOptions& options, const Json& problem) {
  Json json = problem;
  add_plan(json, options);
  json["every"] = simulation.plan.every;
  json["total_bound_s"] = simulation.total_bound_s;
  json["total_average_s"] = simulation.total_average_s;
  json["bound_s"] = simulation.bound_s;
  json["results"] = Json::array();
  for (const auto& row : simulation.rows) json["results"].push_back(json_of(row, simulation));
  return json;
}

/// Returns a function that shows the progress: the text `of`, then the number of simulated steps.
AfterStep step_shower(Progress& progress, std::uint64_t steps, std::string of) {
  progress.show(of);
  return [&progress, steps, of = std::move(of)](std::uint64_t step) {
    if (progress.is_due()) progress.show(fmt::format("{}: step {} of {}", of, step, steps));
  };
}

/// Replays the trace from the chosen phase on, on the given machine.
Replayer replayer_of(Inputs& inputs, const ReplayPlan& plan) {
  const Problem problem = inputs.on(0);
  return {inputs.trace_from_phase(), problem.machine, problem.current, plan};
}

Simulation simulate_all(const Replayer& replayer, const std::vector<Contender>& contenders,
                        DecisionCost cost) {
  Progress progress;
  const std::uint64_t steps = replayer.plan().steps;
  Simulation simulation =
      begin_simulation(replayer, step_shower(progress, steps, "without balancing"));
  for (const Contender& contender : contenders) {
    const std::string shown =
        fmt::format("{} ({} of {})", contender.name, simulation.rows.size(), contenders.size());
    add_row(simulation, replayer, contender, cost, step_shower(progress, steps, shown));
  }
  const auto failed = [](const Simulation::Row& row) { return !row.error.empty(); };
  if (std::all_of(simulation.rows.begin() + 1, simulation.rows.end(), failed))
    throw std::runtime_error(fmt::format("every strategy failed on this trace; {} failed with: {}",
                                         simulation.rows[1].strategy, simulation.rows[1].error));
  return simulation;
}

/// Returns two timelines: of the run without balancing, and of the run with the best strategy.
/// Returns only the first if no strategy is faster than no balancing.
std::vector<Timeline> timelines_of(Inputs& inputs, const Simulation& simulation,
                                   const std::vector<Contender>& contenders) {
  ReplayPlan plan = simulation.plan;
  plan.has_timeline = true;
  const Replayer replayer = replayer_of(inputs, plan);
  std::vector<Timeline> timelines{timeline_of(replayer, simulation.rows.front(), nullptr)};
  if (simulation.best > 0)
    timelines.push_back(
        timeline_of(replayer, simulation.rows[simulation.best], &contenders[simulation.best - 1]));
  return timelines;
}

void check_timeline(const SimulateOptions& options, const Replayer& replayer) {
  // With lending, every task may add a span (one activity of a place) to the timeline in every
  // step.
  const double rows = static_cast<double>(replayer.machine().num_places()) +
                      (options.lending.is_on() ? static_cast<double>(replayer.num_objects()) : 0);
  const double size = options.steps * rows;
  if (!options.timeline.empty() && size > kMaxTimeline)
    fail("--timeline: {} steps of {} places are too many to record; use fewer --steps",
         options.steps, replayer.machine().num_places());
}

void simulate_once(const SimulateOptions& options, const std::vector<Contender>& contenders,
                   const ReplayPlan& plan) {
  const DecisionCost cost = decision_cost_of(options.decision_time);
  std::vector<std::string> kept = strategy_files(options.strategies);
  kept.push_back(options.input.current);
  check_outputs({options.html, options.timeline}, options.input.kept_files(std::move(kept)));
  Inputs inputs(options.input);
  const Replayer replayer = replayer_of(inputs, plan);
  check_timeline(options, replayer);
  const std::string heading = heading_text(options.input, inputs.phase(), replayer.machine());
  Simulation simulation = simulate_all(replayer, contenders, cost);
  simulation.has_sizes = has_sizes(inputs.phase().workload);
  std::vector<Timeline> timelines;
  const bool is_small = 1.0 * plan.steps * replayer.machine().num_places() <= 1e6;
  if (!options.timeline.empty() || (!options.html.empty() && plan.events && is_small))
    timelines = timelines_of(inputs, simulation, contenders);
  if (!options.timeline.empty()) write_timeline(timelines.back(), options.timeline);
  const Json problem = json_of_problem(options.input, inputs.phase(), replayer.machine());
  const std::string json = document_text(json_of(simulation, options, problem));
  if (!options.html.empty())
    write_file(options.html,
               simulate_page(simulation,
                             trace_text(options.input, inputs.phase()) + "; " + plan_text(plan),
                             timelines, json));
  std::vector<std::string> notes(inputs.notes().begin(), inputs.notes().end());
  if (plan.every >= plan.steps)
    notes.push_back(fmt::format(
        "no strategy decides anything, because the run ends after step {} and the first decision "
        "comes after step {}; lower --every or raise --steps",
        plan.steps, plan.every));
  print(options.json ? json : heading + text_of(simulation), notes);
}

/// Replays the trace on one machine with every combination of balancing period and seed.
void sweep_on(const SimulateOptions& options, const Ranges& ranges,
              const std::vector<Contender>& contenders, Inputs& inputs, Sweep& sweep) {
  const DecisionCost cost = decision_cost_of(options.decision_time);
  Progress progress;
  for (const std::uint64_t every : ranges.every) {
    for (const std::uint64_t seed : ranges.seeds) {
      ReplayPlan plan = plan_of(options);
      plan.every = every;
      plan.seed = seed;
      const Replayer replayer = replayer_of(inputs, plan);
      const std::string shown =
          fmt::format("{} places, every {}, seed {}", replayer.machine().num_places(), every, seed);
      Simulation simulation = begin_simulation(replayer, step_shower(progress, plan.steps, shown));
      for (const Contender& contender : contenders)
        add_row(simulation, replayer, contender, cost,
                step_shower(progress, plan.steps, fmt::format("{}, {}", shown, contender.name)));
      add_to(sweep, simulation, replayer.machine().num_places());
    }
  }
}

void simulate_sweep(const SimulateOptions& options, const Ranges& ranges,
                    const std::vector<Contender>& contenders) {
  Sweep sweep{.seeds = ranges.seeds, .rows = {}};
  std::vector<std::string> notes;
  std::string heading;
  Json problem;
  std::vector<InputOptions> inputs_options(std::max<std::size_t>(1, ranges.places.size()),
                                           options.input);
  if (!ranges.places.empty() && options.input.machines.size() != 1)
    fail("--places needs a machine text, such as --machine \"node:4 core:8\"");
  for (std::size_t i = 0; i < ranges.places.size(); ++i)
    inputs_options[i].machines = {with_places(options.input.machines[0], ranges.places[i])};
  for (const InputOptions& input : inputs_options) {
    Inputs inputs(input);
    const Machine machine = inputs.on(0).machine;
    if (heading.empty()) {
      heading = ranges.places.empty() ? heading_text(input, inputs.phase(), machine)
                                      : trace_text(input, inputs.phase()) + "\n";
      problem = json_of_problem(input, inputs.phase(), machine);
    }
    sweep_on(options, ranges, contenders, inputs, sweep);
    notes.assign(inputs.notes().begin(), inputs.notes().end());
  }
  const auto works = [](const SweepRow& row) { return row.every > 0 && row.error.empty(); };
  if (std::none_of(sweep.rows.begin(), sweep.rows.end(), works))
    throw std::runtime_error(fmt::format("every strategy failed on this trace; {} failed with: {}",
                                         sweep.rows.back().strategy, sweep.rows.back().error));
  add_plan(problem, options);
  print(options.json
            ? document_text(add_sweep(problem, sweep))
            : heading + "\n" + render(sweep_table(sweep), terminal_width(), has_colours()) + "\n" +
                  sweep_summary(sweep),
        notes);
}

void simulate(SimulateOptions options) {
  check_engine(options);
  if (options.uses_events() && !options.has_model) options.input.model = "physical";
  const std::vector<Contender> contenders =
      contenders_of(options.strategies, limit_s(options.limit));
  const Ranges ranges = ranges_of(options);
  ReplayPlan plan = plan_of(options);
  if (ranges.is_sweep()) return simulate_sweep(options, ranges, contenders);
  plan.every = ranges.every[0];
  options.input.seed = plan.seed = ranges.seeds[0];
  simulate_once(options, contenders, plan);
}

void add_engine_options(CLI::App& command, SimulateOptions& options) {
  add_text(command, "--engine", "ENGINE", options.engine,
           "How to time an iteration: by the cost formula (formula), or event by event "
           "(events), where messages compete for buses, cards and links");
  add_text(command, "--sharing", "HOW", options.sharing,
           "How messages share a resource: fluid (max-min fair) or queue (first come, first "
           "served)");
  add_text(command, "--routing", "POLICY", options.routing,
           "Routes through the links of a torus, mesh, dragonfly or tree with uplinks: minimal, "
           "random (a detour for each pair of places) or adaptive (the detour where it is faster)");
  command
      .add_option("--link-bandwidth", options.link_bytes_per_s,
                  "Bytes per second of a link of the network (default: those of all network cards "
                  "of a node)")
      ->type_name("NUMBER")
      ->check(number_between(1.0, 1e15));
  add_count(command, "--eager", "BYTES", options.eager_bytes,
            "Larger messages wait until their receiver is ready");
  command
      .add_option("--precision", options.precision,
                  "Starts and ends of messages closer together than this fraction of the busiest "
                  "resource's time count as one; 0 is exact (default: by size)")
      ->type_name("FRACTION")
      ->check(number_between(0.0, 0.5));
  add_text(command, "--juggle", "PERIOD", options.juggle,
           "Tasks are threads that share their places, and Juggle swaps them inside their "
           "domain after each period, such as 100ms");
  command
      .add_option("--pressure", options.pressure.factor,
                  "Unpacking tasks into full memory takes FACTOR times as long; the effect begins "
                  "at 80 % (default: 1)")
      ->type_name("FACTOR")
      ->check(number_between(1.0, 1e6));
  add_count(command, "--place-memory", "BYTES", options.pressure.place_bytes,
            "Memory of a place, for --pressure (default: that of its domain, if known)")
      ->default_str("");  // the help shows no default: 0 would look like no memory
  command.add_flag("--barrier", options.barrier,
                   "Each step ends with a barrier of all places, whose messages take time");
  add_text(command, "--timeline", "FILE", options.timeline,
           "Write what every place did under the best strategy, as JSON");
  add_text(command, "--loads", "MODEL", options.loads,
           "Change loads from step to step: drift, jump, grow or wave, with knobs such as "
           "jump:at=20,share=0.1,factor=4");
}

void add_lending_options(CLI::App& command, SimulateOptions& options) {
  command.add_flag("--lend", options.lending.lends,
                   "Places lend tasks to one another within a step, as with the tasks runtime");
  command
      .add_option("--replicate", options.lending.replicated_share,
                  "At the start of a step each place copies this share of its tasks to others; an "
                  "idle place runs a copy if the task has not started")
      ->type_name("SHARE")
      ->check(number_between(0.0, 1.0));
  command.add_flag("--shared-tokens", options.lending.shares_tokens,
                   "An idle place takes a copied task by an atomic operation on shared memory, "
                   "instead of asking its owner");
  add_text(command, "--news-delay", "TIME", options.news_delay,
           "Messages about loads, requests and answers arrive this much later, such as 10ms");
}

void add_ranges(CLI::App& command, SimulateOptions& options) {
  add_text(command, "--every", "K", options.every,
           "Steps between two decisions, within which migrations must pay off for strategy poise; "
           "a list such as 5,10,20 or auto finds the best");
  command.remove_option(command.get_option("--seed"));
  add_text(command, "--seed", "N", options.seeds,
           "Seed for strategies, loads and routes that use random numbers; 1..10 shows the spread");
  add_text(command, "--places", "LIST", options.places,
           "Repeat with machines of these sizes, such as 32,64: the first level of the "
           "machine text grows");
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      app.add_subcommand("simulate", "Replay a trace with each strategy over many steps");
  add_input_options(*command, options->input, "--placement");
  command->get_option("--phase")->description(
      "Begin with this phase of the trace, by its number there (default: the first)");
  add_capacity(*command, options->input);
  add_text(*command, "-s,--strategies", "LIST", options->strategies,
           "Strategies: NAME[:KNOB=VALUE,...],... (default: all but the oracles; see poise "
           "strategies), exec:COMMAND and plugin:FILE.so of your own");
  add_exec_limit(*command, options->limit);
  add_count(*command, "--steps", "N", options->steps, "Steps to run", 1);
  add_ranges(*command, *options);
  add_engine_options(*command, *options);
  add_lending_options(*command, *options);
  add_text(
      *command, "--beyond", "HOW", options->beyond,
      "Steps after the last phase: hold repeats the last one, cycle repeats all, from --phase on");
  add_text(*command, "--subphases", "HOW", options->subphases,
           "Loads per subphase in the trace: no_wait adds them up, wait lets all places "
           "wait after each, overlap runs them at the same time");
  add_text(*command, "--decision-time", "TIME", options->decision_time,
           "Cost of each decision: as measured here, or a time such as 0s or 2ms");
  command->add_flag("--overlap", options->overlap,
                    "Also simulate places that wait for messages only, not for each other");
  add_text(*command, "--html", "FILE", options->html,
           "Write a page with the time of every step, the decisions, messages per place and "
           "timelines");
  command->add_flag("--json", options->json, "Print one JSON document and nothing else");
  command->footer(
      "A decision before step K sees the loads and messages of step K - 1; decisions and\n"
      "migrations stop the whole program. With a fixed --decision-time the same input gives the\n"
      "same output.\n\n"
      "Example: poise simulate step.poise -s greedy,refine --steps 200 --every 20");
  command->callback([options, command] {
    options->has_model = command->count("--model") > 0;
    for (const char* flag : {"--sharing", "--routing", "--link-bandwidth", "--eager", "--precision",
                             "--juggle", "--pressure", "--place-memory", "--barrier", "--timeline"})
      options->has_events_options = options->has_events_options || command->count(flag) > 0;
    simulate(*options);
  });
}

}  // namespace poise::apps
