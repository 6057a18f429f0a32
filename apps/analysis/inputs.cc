// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/inputs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "apps/text/command_line.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/diagnosis/mapping.h"
#include "poise/machine/find.h"
#include "poise/machine/text.h"
#include "poise/simulate/objects.h"
#include "poise/trace/placement_file.h"

namespace poise::apps {

namespace {

constexpr std::string_view kStarts[] = {"trace", "round_robin", "blocked"};

std::uint32_t places_used(const Placement& placement) {
  PlaceId places = 0;
  for (const PlaceId place : placement.places()) places = std::max(places, place + 1);
  return places;
}

std::vector<std::pair<TaskIdentity, TaskId>> identities_of(const Phase& phase) {
  std::vector<std::pair<TaskIdentity, TaskId>> identities;
  for (TaskId t = 0; t < phase.workload.num_tasks(); ++t) {
    const TaskIdentity by_number{TaskName::Kind::id, t, -1, 0};
    identities.push_back({phase.names.empty() ? by_number : identity_of(phase, t), t});
  }
  std::sort(identities.begin(), identities.end());
  return identities;
}

/// Returns the loads that the tasks of `phase` had in the phase `earlier`, in the order of the
/// tasks of `phase`. Returns nothing if a task of `phase` does not exist in `earlier`.
std::optional<std::vector<double>> loads_as_in(const Phase& phase, const Phase& earlier) {
  const auto now = identities_of(phase), then = identities_of(earlier);
  std::vector<double> loads_s(now.size());
  auto match = then.begin();
  for (const auto& [identity, task] : now) {
    while (match != then.end() && match->first < identity) ++match;
    if (match == then.end() || match->first != identity) return std::nullopt;
    loads_s[task] = earlier.workload.tasks[match->second].load_s;
  }
  return loads_s;
}

}  // namespace

void check_stdin(const std::vector<std::string>& files) {
  const auto count = std::count(files.begin(), files.end(), kStdin);
  if (count > 1)
    fail(
        "\"-\" is given for {} inputs, but stdin can be read only once; name files for the other "
        "inputs",
        count);
}

std::vector<std::string> InputOptions::files() const {
  std::vector<std::string> files = machines;
  files.insert(files.end(), {trace, current});
  return files;
}

std::vector<std::string> InputOptions::kept_files(std::vector<std::string> others) const {
  others.insert(others.end(), machines.begin(), machines.end());
  for (std::string& file : trace_files(trace)) others.push_back(std::move(file));
  return others;
}

void add_input_options(CLI::App& command, InputOptions& options, const char* current_flag) {
  command
      .add_option("TRACE", options.trace,
                  "Trace: a .poise file, a folder or stem of vt files, a Charm++ dump, a METIS "
                  "graph, a matrix (MatrixMarket or CSV), an mpiP report, or - for stdin")
      ->required();
  command
      .add_option("-m,--machine", options.machines,
                  "Machine: \"live\", \"job\", a name such as NUMA32, a .json or .xml file, or "
                  "text such as \"node:2 numa:2 core:4\" (default: the trace's)")
      ->type_name("M")
      ->expected(1)
      ->allow_extra_args(false);  // -m takes one word, not all words that follow it
  auto* current =
      add_text(command, current_flag, "FILE", options.current,
               "Current placement, instead of the trace's: one place number per line, or .json");
  add_text(command, "--start", "HOW", options.start,
           "Current placement: the trace's, or a new one (round_robin or blocked) for a "
           "machine that the trace's does not fit")
      ->excludes(current);
  add_text(command, "--model", "MODEL", options.model,
           "Cost of messages: nuco (each costs its receiver) or physical (processors, shared "
           "buses and cards, latency)");
  add_count(command, "--phase", "K", options.phase,
            "Phase of the trace, by its number there (default: the first)");
  add_count(command, "--seed", "N", options.seed, "Seed for strategies that use random numbers");
}

void add_capacity(CLI::App& command, InputOptions& options) {
  add_count(command, "--capacity", "K", options.capacity,
            "Tasks that a place holds at most (default: any number)", 1);
  command.get_option("--capacity")->default_str("");  // the help shows no default: 0 would look
                                                      // like a limit of 0 tasks
}

void add_exec_limit(CLI::App& command, std::string& limit) {
  add_text(command, "--exec-limit", "TIME", limit, "Time that an exec: strategy may take");
}

void allow_many_machines(CLI::App& command) {
  command.get_option("--machine")
      ->expected(-1)  // may be given several times, each time with one machine
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Inputs::Inputs(InputOptions options) : options_(std::move(options)) {
  if (std::find(std::begin(kStarts), std::end(kStarts), options_.start) == std::end(kStarts))
    throw Error(unknown_name("start", options_.start, kStarts));
  formula_ = formula_named(options_.model);
  check_stdin(options_.files());
  trace_ = read_trace(options_.trace);
  for (const std::string& assumed : trace_.assumed)
    notes_.push_back(fmt::format("{}: {}", options_.trace, assumed));
  constexpr std::uint64_t kMaxTasks = ~std::uint32_t{0};
  for (Phase& phase : trace_.phases)
    phase.workload.capacity.per_place = std::min<std::uint64_t>(options_.capacity, kMaxTasks);
  choose_phase();
  Phase& chosen = trace_.phases[phase_];
  for (std::size_t earlier = 0; earlier < phase_; ++earlier)
    if (auto loads_s = loads_as_in(chosen, trace_.phases[earlier]))
      past_loads_s_.push_back(std::move(*loads_s));
  recorded_background_s_ = std::move(chosen.workload.background_s);
  recorded_place_bytes_ = std::move(chosen.workload.place_bytes);
  if (!options_.current.empty()) given_ = read_placement(options_.current);
}

void Inputs::choose_phase() {
  if (trace_.phases.empty())
    fail("{}: the trace has no phases; at least 1 is needed", options_.trace);
  if (!options_.phase) return;
  const auto found = std::find_if(trace_.phases.begin(), trace_.phases.end(),
                                  [&](const Phase& p) { return p.id == *options_.phase; });
  if (found == trace_.phases.end())
    fail("{}: there is no phase {}; the trace has {}", options_.trace, *options_.phase,
         trace_.phases.size() == 1
             ? fmt::format("only phase {}", trace_.phases.front().id)
             : fmt::format("{} phases, with ids from {} to {}", trace_.phases.size(),
                           trace_.phases.front().id, trace_.phases.back().id));
  phase_ = found - trace_.phases.begin();
}

void Inputs::count_all_messages() {
  if (options_.phase || trace_.phases.size() < 2) return;
  const bool have_same_tasks =
      std::all_of(trace_.phases.begin(), trace_.phases.end(), [this](const Phase& other) {
        return other.workload.num_tasks() == phase().workload.num_tasks() &&
               other.names == phase().names;
      });
  if (have_same_tasks) {
    trace_.phases[phase_].workload.messages = traffic_of(trace_).messages;
    counted_phases_ = trace_.phases.size();
  }
  notes_.push_back(
      have_same_tasks
          ? fmt::format("{}: the messages of all {} phases count (change with --phase)",
                        options_.trace, trace_.phases.size())
          : fmt::format("{}: phases have different tasks, so only messages of phase {} count "
                        "(change with --phase)",
                        options_.trace, phase().id));
}

std::size_t Inputs::num_machines() const {
  return std::max<std::size_t>(1, options_.machines.size());
}

Machine Inputs::machine_named(const std::string& text, const Placement* stand_in) {
  if (!text.empty()) return find_machine(text);
  if (trace_.machine) return *trace_.machine;
  std::uint32_t places = std::max(trace_.num_places, places_used(phase().placement));
  if (given_) places = std::max(places, places_used(*given_));
  if (places == 0 && stand_in != nullptr) places = places_used(*stand_in);
  if (places == 0)
    fail("{}: the trace has neither a machine nor a placement; give --machine", options_.trace);
  notes_.push_back(
      fmt::format("{} records no machine: taking {} equal place{} (change with --machine)",
                  options_.trace, places, places == 1 ? "" : "s"));
  return flat_machine(places);
}

Placement Inputs::current_on(const Machine& machine) {
  const TaskId num_tasks = phase().workload.num_tasks();
  if (options_.start == "round_robin") return round_robin(num_tasks, machine.num_places());
  if (options_.start == "blocked") return blocked(num_tasks, machine.num_places());
  if (given_) return *given_;
  if (phase().placement.num_tasks() > 0) return phase().placement;
  notes_.push_back(fmt::format(
      "{} records no placement: assuming blocks of consecutive tasks (change with --start)",
      options_.trace));
  return blocked(num_tasks, machine.num_places());
}

void Inputs::fit_background(std::uint32_t num_places) {
  Workload& workload = trace_.phases[phase_].workload;
  if (recorded_background_s_.size() > num_places)
    notes_.push_back(fmt::format(
        "the machine has {} places: the background load of further places is ignored", num_places));
  workload.background_s = recorded_background_s_;
  if (!workload.background_s.empty()) workload.background_s.resize(num_places, 0);
  workload.place_bytes = recorded_place_bytes_;
  if (!workload.place_bytes.empty()) workload.place_bytes.resize(num_places, 0);
}

void Inputs::check_current() const {
  const bool is_given = given_.has_value();
  const std::string& source = is_given ? options_.current : options_.trace;
  if (places_used(current_) > machine_.num_places())
    fail(
        "{} uses {} places, but machine \"{}\" has only {}; give a larger --machine, or place the "
        "tasks anew by --start blocked or --start round_robin",
        source, places_used(current_), machine_.name(), machine_.num_places());
  try {
    check(current_, phase().workload.num_tasks(), machine_.num_places());
  } catch (const Error& error) {
    fail("{}: {}", source, error.what());
  }
}

Trace Inputs::trace_from_phase() const {
  Trace trace{.machine = trace_.machine, .num_places = trace_.num_places, .phases = {}};
  trace.phases.assign(trace_.phases.begin() + phase_, trace_.phases.end());
  return trace;
}

Problem Inputs::on(std::size_t i, const Placement* stand_in) {
  machine_ = with_formula(
      machine_named(options_.machines.empty() ? "" : options_.machines[i], stand_in), formula_);
  const bool is_known = given_ || phase().placement.num_tasks() > 0 || options_.start != "trace";
  if (is_known || stand_in == nullptr) {
    current_ = current_on(machine_);
    check_current();
  } else {
    current_ = *stand_in;
  }
  fit_background(machine_.num_places());
  check(phase().workload, machine_.num_places());
  return {machine_, phase().workload, current_, machine_.costs(), options_.seed, past_loads_s_};
}

}  // namespace poise::apps
