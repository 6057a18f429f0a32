// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/balancer.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "runtimes/balance/job_machine.h"
#include "runtimes/balance/run_strategy.h"
#include "runtimes/charm/convert.h"
#include "runtimes/charm/locations.h"
#include "runtimes/charm/past.h"
#include "runtimes/charm/record.h"
#include "runtimes/charm/settings.h"
#include "runtimes/charm/spikes.h"
#include "runtimes/charm/stage.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/variables.h"
#include "poise/machine/text.h"

extern char** environ;

namespace poise::charm {

namespace {

constexpr std::size_t kMaxPastDecisions = 64;

/// The PE on which each object is now. Objects on an unavailable PE are assigned to the available
/// PEs round-robin.
std::vector<std::int32_t> where_they_are(const Statistics& statistics) {
  std::vector<std::int32_t> available, pes;
  for (std::size_t pe = 0; pe < statistics.pes.size(); ++pe)
    if (statistics.pes[pe].available) available.push_back(pe);
  for (std::size_t i = 0; i < statistics.num_objects(); ++i) {
    const ObjectRow object = statistics.object(i);
    const bool exists =
        object.pe >= 0 && static_cast<std::size_t>(object.pe) < statistics.pes.size();
    const bool must_go =
        object.movable && !available.empty() && exists && !statistics.pes[object.pe].available;
    pes.push_back(must_go ? available[pes.size() % available.size()] : object.pe);
  }
  return pes;
}

/// Converts a strategy's name to a balancer's: "greedy_refine" becomes PoiseGreedyRefineLB.
std::string name_of(const Strategy& strategy) {
  std::string name = "Poise";
  bool starts_word = true;
  for (const char c : strategy.name) {
    if (c != '_') name += starts_word ? static_cast<char>(c - 'a' + 'A') : c;
    starts_word = c == '_';
  }
  return name + "LB";
}

std::vector<Named> all_names() {
  const auto row = [](std::string_view name) { return parse_strategy(name).strategy; };
  std::vector<Named> names{{"PoiseLB", row("poise"), true},
                           {"NucoLB", row("nuco"), false},
                           {"NumaLB", row("numa"), false},
                           {"TreeMatchTopoLB", row("treematch"), false}};
  for (const Strategy& strategy : strategies())
    names.push_back({name_of(strategy), &strategy, false});
  return names;
}

const std::vector<Named>& names() {
  static const std::vector<Named> all = all_names();
  return all;
}

Settings settings_of(std::size_t which, const std::string& setting) {
  return settings_of(names().at(which), setting,
                     [](const char* name) -> const char* { return std::getenv(name); });
}

bool need_messages(const Settings& settings) {
  return !settings.choice.strategy->ignores_messages || !settings.trace.empty();
}

}  // namespace

const std::vector<Listed>& balancers() {
  static const std::vector<Listed> all = [] {
    std::vector<Listed> list;
    for (const Named& named : names())
      list.push_back({named.name, std::string(named.strategy->summary)});
    return list;
  }();
  return all;
}

std::string& setting() {
  static std::string text;
  return text;
}

std::string strategy_with(const std::string& setting) {
  return settings_of(0, setting).choice.text();
}

bool wants_messages(std::size_t which, const std::string& setting) {
  return need_messages(settings_of(which, setting));
}

std::int32_t bound_core() { return balance::bound_core(); }

struct Balancer::State {
  Decision decided(const Statistics& statistics);
  bool predicts() const { return settings.choice.strategy->name == "multistep"; }
  std::size_t num_past_decisions() const;
  std::vector<std::vector<double>> remembered(const Statistics& statistics, Converted& rows);
  bool wants_messages() const { return need_messages(settings); }

  Settings settings;
  Machine host = host_of(settings);  // discovered at start-up, so that no decision waits for it
  Stage stage = {};
  std::vector<PeRow> staged = {};  // the rows of the PEs when `stage` was built
  Past past = {};
  balance::Overdue overdue = {};
  bool has_warned = false, has_warned_of_record = false, has_told_variables = false;
};

/// Number of earlier decisions whose recorded loads the strategy uses to predict the next loads.
std::size_t Balancer::State::num_past_decisions() const {
  if (!predicts()) return 0;
  const auto window = static_cast<std::size_t>(settings.choice.knobs["window"]);
  return std::min(kMaxPastDecisions, window - 1);
}

/// True if the list `names` has exactly the names of the objects, in the order of their tasks.
bool are_names_of(const std::vector<ObjectName>& names, const Statistics& statistics,
                  const std::vector<std::uint32_t>& row_of_task) {
  return std::equal(names.begin(), names.end(), row_of_task.begin(), row_of_task.end(),
                    [&](const ObjectName& name, std::uint32_t row) {
                      return same(name, statistics.object(row).name);
                    });
}

std::vector<ObjectName> names_of(const Statistics& statistics,
                                 const std::vector<std::uint32_t>& row_of_task) {
  std::vector<ObjectName> names;
  names.reserve(row_of_task.size());
  for (const std::uint32_t row : row_of_task) names.push_back(statistics.object(row).name);
  return names;
}

/// Returns the objects' loads at earlier decisions, from which the strategy predicts the next
/// loads: one list per decision, with one load per task. Adds the measured loads of this decision
/// to the history. Then replaces spikes in the loads of this decision, so that the strategy does
/// not react to spikes.
std::vector<std::vector<double>> Balancer::State::remembered(const Statistics& statistics,
                                                             Converted& rows) {
  if (!statistics.names_last) return {};
  // Usually the objects are the same as at the last decision. Then their names are not listed
  // again, because a second list would take 16 MB per million objects.
  if (!are_names_of(past.names, statistics, rows.row_of_task)) {
    std::vector<ObjectName> names = names_of(statistics, rows.row_of_task);
    past.follow(names, statistics.num_index_bits);
    past.names = std::move(names);
  }
  Workload& workload = rows.phase.workload;
  std::vector<std::vector<double>> for_strategy;
  if (const std::size_t most = num_past_decisions(); most > 0) {
    for_strategy = past.loads_of(past.names, workload.num_tasks());
    if (for_strategy.size() > most)
      for_strategy.erase(for_strategy.begin(), for_strategy.end() - most);
  }
  std::vector<double> measured_s(past.names.size());
  for (TaskId t = 0; t < measured_s.size(); ++t) {
    measured_s[t] = workload.tasks[t].load_s;
    if (workload.tasks[t].movable || measured_s[t] > 0) continue;
    const ObjectRow object = statistics.object(rows.row_of_task[t]);
    if (statistics.pes[object.pe].available) continue;
    // An object that is pinned to an unavailable PE has no load in this workload. Its load is
    // recorded nevertheless; otherwise it would count as a spike when the PE is available again.
    measured_s[t] = object.wall_s;
    for (std::vector<double>& loads_s : for_strategy) loads_s[t] = 0;
  }
  replace_spikes(past.loads_s, workload);
  past.add(std::move(past.names), std::move(measured_s),
           std::max(num_past_decisions(), kDecisionsForSpikes));
  return for_strategy;
}

Decision Balancer::State::decided(const Statistics& statistics) {
  const double start_s = wall_now_s();
  if (staged.empty() || !is_same_stage(staged, statistics.pes)) {  // the set of PEs changed
    const bool is_host_known = statistics.pes_are_here || !settings.machine.empty();
    stage = stage_of(is_host_known ? host : balance::with_assumptions(flat_machine(1)), statistics);
    staged = statistics.pes;
  }
  Converted rows = converted(statistics, stage.pe_map, stage.speed_of_place,
                             wants_messages() ? Messages::convert : Messages::leave_out);
  // Throws if the phase is invalid. Such a phase must enter neither the history, where it would
  // spoil later decisions, nor the trace, which it would make unreadable.
  check(rows.phase.workload, stage.machine.num_places());
  auto past_loads_s = remembered(statistics, rows);
  // The seed changes with each decision, so that random strategies draw new numbers each time.
  // `poise plan --seed` reproduces a decision.
  const std::uint64_t seed = past.num_decisions++;
  const auto problem = std::make_shared<const balance::OwnedProblem>(balance::OwnedProblem{
      stage.machine, std::move(rows.phase), std::move(past_loads_s), settings.choice, seed});
  const double converted_s = wall_now_s();
  const balance::Outcome outcome = balance::run_strategy(problem, settings.budget_s, &overdue);
  const double answered_s = wall_now_s();

  Decision decision;
  if (outcome.trouble.empty()) {
    decision.pe_of_object = pes_of(outcome.placement, rows.row_of_task, statistics, stage.pe_map);
    const Decided decided{statistics, rows.row_of_task, outcome.placement, stage.pe_map,
                          decision.pe_of_object};
    if (statistics.pes_are_here)
      decision.locations =
          locations_to_tell(problem->phase.workload.messages, rows.detours, decided);
    decision.questions = questions_to_ask(rows.outside, decided);
  } else if (!std::exchange(has_warned, true))
    decision.warning = fmt::format("strategy {} failed, so objects stay where they are: {}",
                                   settings.choice.text(), outcome.trouble);
  decision.decide_s = answered_s - converted_s;
  decision.convert_s = converted_s - start_s + wall_now_s() - answered_s;
  if (settings.trace.empty() && settings.log.empty()) return decision;
  try {
    write_down({settings, stage, statistics, rows.row_of_task, problem->phase, outcome.placement,
                decision.decide_s});
  } catch (const std::exception& error) {
    if (!std::exchange(has_warned_of_record, true))
      decision.warning += fmt::format("{}this decision is missing from the trace or log: {}",
                                      decision.warning.empty() ? "" : "; ", error.what());
  }
  return decision;
}

Balancer::Balancer(std::size_t which, const std::string& setting, Scope scope)
    : state_(std::make_unique<State>(State{settings_of(which, setting)})) {
  if (scope == Scope::all) return;
  state_->settings.trace.clear();
  state_->settings.log.clear();
}

Balancer::~Balancer() = default;

std::string Balancer::strategy() const { return state_->settings.choice.text(); }

bool Balancer::wants_messages() const { return state_->wants_messages(); }

std::vector<char> Balancer::checkpoint() const { return to_checkpoint(state_->past); }

void Balancer::restart(const std::vector<char>& checkpoint) {
  state_->past = from_checkpoint(checkpoint);
}

Decision Balancer::decide(const Statistics& statistics) noexcept {
  Decision decision;
  if (statistics.num_objects() == 0) return decision;
  try {
    decision = state_->decided(statistics);
    if (decision.warning.empty() && !std::exchange(state_->has_told_variables, true))
      decision.warning = fmt::format("{}", fmt::join(notes_on(environ, reader::charm), "; "));
  } catch (const std::exception& error) {
    if (!std::exchange(state_->has_warned, true))
      decision.warning = fmt::format("objects stay where they are: {}", error.what());
  }
  if (decision.pe_of_object.empty()) decision.pe_of_object = where_they_are(statistics);
  return decision;
}

}  // namespace poise::charm
