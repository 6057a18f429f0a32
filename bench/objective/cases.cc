// SPDX-License-Identifier: BSD-3-Clause

#include "bench/objective/cases.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/strategies/strategy.h"

namespace poise::bench {

namespace {

constexpr const char* kMachines[] = {
    "node:4 numa:2 core:4 factors:10,1.5,1",
    "numa:8 core:6 factors:2,1",
    "node:20 numa:2 core:2 factors:10,1.53,1",
    "torus:4x4x4 core:4",
};
constexpr TaskId kTasks[] = {256, 480, 1'500, 6'000};
constexpr std::uint64_t kSizeFactors[] = {0, 1, 10, 100};
constexpr double kSteps[] = {1, 10, 100, 1'000};
/// In cases whose loads have drifted, one of these strategies made the current placement before the
/// drift.
constexpr const char* kBalancers[] = {"scotch", "nuco", "poise"};

/// The machines of the cases with few tasks on many places.
constexpr const char* kLargeMachines[] = {
    "node:32 numa:2 core:12 factors:12,1.6,1",
    "node:128 numa:2 core:8 factors:10,1.5,1",
    "torus:8x8x4 numa:4 core:8",
};

Placement balanced(const std::string& strategy, const Machine& machine, const Workload& workload) {
  const Placement start = blocked(workload.num_tasks(), machine.num_places());
  return parse_strategy(strategy).rebalance({machine, workload, start, machine.costs(), 1});
}

Case drawn_case(const Kind& kind, const char* machine_text, TaskId num_tasks, CostFormula formula,
                Random& random) {
  const bool is_fresh = random.below(2) == 0;
  const std::uint64_t factor = kSizeFactors[random.below(std::size(kSizeFactors))];
  const double steps = kSteps[random.below(std::size(kSteps))];
  const char* balancer = kBalancers[random.below(std::size(kBalancers))];
  const std::uint64_t seed = random.bits();
  const Machine machine = with_formula(machine_from_text(machine_text), formula);
  const auto has_drift = std::any_of(kind.knobs.begin(), kind.knobs.end(),
                                     [](const Knob& knob) { return knob.name == "drift"; });
  const std::string recipe = std::string(kind.name) + (has_drift ? ":drift=0.2" : "");
  auto phases = generate(parse_recipe(recipe), num_tasks, seed, 2);
  Placement current =
      is_fresh ? initial_placement(kind.start, phases[1].num_tasks(), machine.num_places(), seed)
               : balanced(balancer, machine, phases[0]);
  for (Task& task : phases[1].tasks) task.bytes *= factor;
  const std::string start = is_fresh ? "fresh" : "drifted";
  return {fmt::format("{}-{}-{} {} {} sizes*{} steps={} seed={}", kind.name, num_tasks,
                      machine.num_places(), name_of(formula), is_fresh ? start : balancer, factor,
                      steps, seed),
          start,
          formula,
          machine,
          std::move(phases[1]),
          std::move(current),
          factor,
          steps};
}

/// A case in which all tasks are on 1, 2 or 4 neighbouring places of a machine that has more places
/// than tasks.
Case few_tasks_case(const Kind& kind, const char* machine_text, CostFormula formula,
                    Random& random) {
  const std::uint64_t factor = kSizeFactors[random.below(std::size(kSizeFactors))];
  const double steps = kSteps[random.below(std::size(kSteps))];
  const std::uint64_t seed = random.bits();
  const Machine machine = with_formula(machine_from_text(machine_text), formula);
  const std::uint32_t num_places = machine.num_places(), eighth = num_places / 8;
  Workload workload = generate(parse_recipe(std::string(kind.name)),
                               eighth + random.below(num_places - eighth), seed, 1)[0];
  for (Task& task : workload.tasks) task.bytes *= factor;
  const std::uint32_t num_used = 1 << random.below(3);
  const PlaceId first = random.below(num_places - num_used + 1);
  std::vector<PlaceId> places;
  const Placement from_zero = blocked(workload.num_tasks(), num_used);
  for (const PlaceId p : from_zero.places()) places.push_back(first + p);
  return {
      fmt::format("{}-{}-{} {} on {} sizes*{} steps={} seed={}", kind.name, workload.num_tasks(),
                  num_places, name_of(formula), num_used, factor, steps, seed),
      "few",
      formula,
      machine,
      std::move(workload),
      Placement(std::move(places)),
      factor,
      steps};
}

void for_each_case_of_few_tasks(const CaseChoice& choice,
                                const std::function<void(const Case&, const Kind&)>& visit) {
  std::uint64_t number = 0;
  for (const CostFormula formula : {CostFormula::physical, CostFormula::nuco})
    for (const Kind& kind : kinds())
      for (const char* machine : kLargeMachines)
        for (std::uint64_t draw = 0; draw < choice.draws; ++draw) {
          Random random(mix(choice.seed * 1'000'003 + ++number));
          if (!choice.model.empty() && name_of(formula) != choice.model) continue;
          if (std::string(kind.name).find(choice.only) == std::string::npos) continue;
          std::optional<Case> drawn;
          try {
            drawn.emplace(few_tasks_case(kind, machine, formula, random));
          } catch (const Error&) {
            continue;  // the kind needs more tasks than were drawn: leanmd needs at least 202
          }
          visit(*drawn, kind);
        }
}

}  // namespace

void for_each_case(const CaseChoice& choice,
                   const std::function<void(const Case&, const Kind&)>& visit) {
  if (choice.has_few_tasks) return for_each_case_of_few_tasks(choice, visit);
  std::uint64_t number = 0;
  for (const CostFormula formula : {CostFormula::physical, CostFormula::nuco})
    for (const Kind& kind : kinds())
      for (const TaskId num_tasks : kTasks)
        for (const char* machine : kMachines)
          for (std::uint64_t draw = 0; draw < choice.draws; ++draw) {
            Random random(mix(choice.seed * 1'000'003 + ++number));
            if (!choice.model.empty() && name_of(formula) != choice.model) continue;
            if (!choice.only.empty() &&
                fmt::format("{}-{}", kind.name, num_tasks).find(choice.only) == std::string::npos)
              continue;
            visit(drawn_case(kind, machine, num_tasks, formula, random), kind);
          }
}

}  // namespace poise::bench
