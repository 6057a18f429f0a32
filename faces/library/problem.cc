// SPDX-License-Identifier: BSD-3-Clause

#include "faces/library/problem.h"

#include <utility>

#include "apps/analysis/problem_arrays.h"
#include "faces/library/arrays.h"

#include "poise/strategies/strategy.h"
#include "poise/workload/checks.h"

namespace poise::library {

namespace {

apps::Contender contender_of(const poise_own_strategy& own) {
  const std::string name = &required(own.name, "the name of an own strategy");
  if (own.decide == nullptr)
    fail("own strategy \"{}\": the function pointer `decide` is null; set it to your function",
         name);
  return {name, [name, own](const Problem& problem) {
            const apps::ProblemArrays arrays(problem);
            const auto now = problem.current.places();
            std::vector<PlaceId> places(now.begin(), now.end());
            const int status = own.decide(&arrays.problem(), places.data(), own.argument);
            if (status != 0) fail("{}: it returned {}", name, status);
            check_below(places, problem.machine.num_places(), name.c_str(), "places");
            return Placement(std::move(places));
          }};
}

}  // namespace

CheckedProblem::CheckedProblem(const poise_machine* machine, const poise_workload* workload,
                               const std::uint32_t* current, std::uint64_t seed)
    : machine_(checked(machine, "machine")),
      workload_(checked(workload, "workload")),
      current_(placement_or_blocks(current, workload_.workload.num_tasks(),
                                   machine_.machine.num_places(), "current")),
      seed_(seed) {
  check_all_but_messages(workload_.workload, machine_.machine.num_places());
  check_domains(workload_.workload, machine_.machine);
}

Problem CheckedProblem::view() const {
  return {machine_.machine,      workload_.workload, current_, machine_.machine.costs(), seed_,
          workload_.past_loads_s};
}

void check_domains(const Workload& workload, const Machine& machine) {
  const std::size_t given = workload.capacity.of_domains.size();
  if (given != 0 && given != machine.num_domains())
    fail("of_domains has {} entries, but the machine has {} memory domains", given,
         machine.num_domains());
}

std::vector<apps::Contender> contenders_of(const char* strategies, const poise_own_strategy* own,
                                           std::uint64_t num_own) {
  std::vector<apps::Contender> contenders;
  if (strategies == nullptr) {
    for (const Strategy& strategy : poise::strategies())
      if (!strategy.is_oracle)
        contenders.push_back(apps::contender_of(parse_strategy(strategy.name)));
  } else if (*strategies != '\0') {
    contenders = apps::parse_contenders(strategies, exec_limit_s());
  }
  for (const poise_own_strategy& mine : array(own, num_own, "own"))
    contenders.push_back(contender_of(mine));
  if (contenders.empty()) fail("no strategy was given; name at least one, for example poise");
  return contenders;
}

double exec_limit_s() { return apps::limit_s(apps::kExecLimit); }

poise_metrics metrics_of(const Metrics& m) {
  return {.iteration_s = m.iteration_s,
          .makespan_s = m.makespan_s,
          .makespan_bound_s = m.makespan_bound_s,
          .average_s = m.average_s,
          .imbalance = m.imbalance,
          .max_comm_s = m.max_comm_s,
          .hop_bytes = m.hop_bytes,
          .internode_bytes = m.internode_bytes,
          .nuco_messages = m.nuco_messages,
          .migrations = m.migrations,
          .migrated_bytes = m.migrated_bytes,
          .migration_s = m.migration_s};
}

}  // namespace poise::library
