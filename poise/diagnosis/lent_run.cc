// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/lent_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "poise/diagnosis/imbalance.h"
#include "poise/diagnosis/tuning.h"
#include "poise/simulate/lent_step.h"

namespace poise {

namespace {

namespace tuning = diagnosis_tuning;

/// The ranks, sorted by their nodes, because the simulation assigns ranks to nodes in this order,
/// the same number to each node.
std::vector<std::uint32_t> ranks_by_node(const MeasuredRun& run) {
  std::vector<std::uint32_t> ranks(run.num_ranks());
  std::iota(ranks.begin(), ranks.end(), 0u);
  std::ranges::stable_sort(ranks, {}, [&](std::uint32_t r) { return run.node_of_rank[r]; });
  return ranks;
}

/// The replayed phases in which lending is simulated: all of them if that is quick, otherwise as
/// many evenly spaced ones as can be simulated quickly. Empty if only some phases can be simulated
/// quickly and their number is below kMinSimulated.
std::vector<std::size_t> lent_phases(const ReplayedRun& replay, std::uint32_t num_ranks) {
  const std::span<const std::size_t> all = replay.phases();
  const auto most =
      static_cast<std::size_t>(tuning::kSimulatedTasks / tuning::kManyTasks / num_ranks);
  const std::size_t count = std::min(all.size(), most);
  if (count < std::min(all.size(), tuning::kMinSimulated)) return {};
  std::vector<std::size_t> phases;
  for (std::size_t k = 0; k < count; ++k)
    phases.push_back(all[(2 * k + 1) * all.size() / (2 * count)]);
  return phases;
}

/// All ranks of the run, still without work. Each node gets the mean number of ranks per node,
/// rounded down.
LendingScenario idle_ranks(const MeasuredRun& run, const Machine& machine) {
  LendingScenario scenario = lending_network(machine);
  scenario.num_ranks = run.num_ranks();
  const std::uint32_t nodes =
      1 + *std::max_element(run.node_of_rank.begin(), run.node_of_rank.end());
  scenario.ranks_per_node = std::max(1u, scenario.num_ranks / nodes);
  return scenario;
}

/// Seconds that lending saves in a phase of `iterations` equal iterations if a rank with the mean
/// load has `tasks` tasks in each iteration.
double saved_s(LendingScenario scenario, const MeasuredPhase& phase,
               std::span<const std::uint32_t> ranks, double iterations, double tasks) {
  double sum_s = 0, longest_s = 0;
  for (const RankTimes& rank : phase.ranks) {
    sum_s += rank.load_s;
    longest_s = std::max(longest_s, rank.load_s);
  }
  if (sum_s <= 0) return 0;
  const double parts = std::max(iterations, longest_s / tuning::kMaxLent_s);
  const double task_s = sum_s / phase.ranks.size() / tasks;
  for (const std::uint32_t r : ranks) {
    const double load_s = phase.ranks[r].load_s, count = std::max(1.0, std::round(load_s / task_s));
    scenario.work.push_back({{static_cast<std::uint32_t>(count), load_s / parts / count, 0}});
  }
  return longest_s - parts * lent_step(scenario).end_s;
}

}  // namespace

std::optional<Seconds> saved_by_lending(const MeasuredRun& run, const Machine& machine,
                                        const ReplayedRun& replay) {
  const std::vector<std::size_t> phases = lent_phases(replay, run.num_ranks());
  if (!replay.is_possible() || phases.empty()) return std::nullopt;
  const LendingScenario idle = idle_ranks(run, machine);
  const std::vector<std::uint32_t> ranks = ranks_by_node(run);
  const std::vector<double> lost = lost_s(run);
  const auto saving = [&](double tasks_per_rank) {
    std::vector<double> saved;
    for (const std::size_t p : phases)
      saved.push_back(saved_s(idle, run.phases[p], ranks, replay.iterations_of(p), tasks_per_rank));
    return sum_over_run(saved, phases, lost);
  };
  // No runtime saves more than the time lost by imbalance.
  const double most_s = std::accumulate(lost.begin(), lost.end(), 0.0);
  const Seconds few = saving(tuning::kFewTasks), many = saving(tuning::kManyTasks);
  const double low_s = std::clamp(std::min(few.value, many.value), 0.0, most_s);
  const double high_s = std::clamp(std::max(few.value, many.value), 0.0, most_s);
  return Seconds{(low_s + high_s) / 2,
                 std::max({(high_s - low_s) / 2, few.half_width, many.half_width})};
}

}  // namespace poise
