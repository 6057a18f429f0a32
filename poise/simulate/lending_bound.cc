// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_bound.h"

#include <algorithm>

namespace poise {

namespace {

/// The work of a rank, or of several ranks together.
struct OwnWork {
  double pace = 0;    // work per second that the ranks can do
  double work_s = 0;  // seconds of all tasks on a rank of slowness 1
  /// Maximum over the tasks: seconds of a task and all its children on a rank of slowness 1.
  double longest_s = 0;

  void add(const OwnWork& other) {
    pace += other.pace;
    work_s += other.work_s;
    longest_s = std::max(longest_s, other.longest_s);
  }
  /// In a time T, the ranks themselves run at most pace * T of their work. So they must lend at
  /// least (work_s - pace * T) / longest_s tasks. Returns the shortest T in which they can do this
  /// if lending a task takes lending_s: the solution of (work_s - pace * T) / longest_s * lending_s
  /// = T.
  double lending_s(double lending_s) const {
    const double divisor_s = longest_s + pace * lending_s;
    return divisor_s > 0 ? work_s * lending_s / divisor_s : 0;
  }
};

OwnWork own_work(const LendingScenario& scenario, std::uint32_t rank) {
  OwnWork own{.pace = 1 / (rank < scenario.slowness.size() ? scenario.slowness[rank] : 1)};
  if (rank >= scenario.work.size()) return own;
  for (const SimulatedWork& work : scenario.work[rank]) {
    if (work.tasks == 0) continue;
    const double with_children_s = work.task_s * (1.0 + work.children);
    own.add({0, work.tasks * with_children_s, with_children_s});
  }
  return own;
}

/// The time in which the fastest rank runs the longest task and then one of its children, if it has
/// any.
double longest_chain_s(const LendingScenario& scenario) {
  double longest_s = 0, fastest = scenario.slowness.size() < scenario.num_ranks ? 1 : 1e300;
  for (const double slowness : scenario.slowness) fastest = std::min(fastest, slowness);
  for (const std::vector<SimulatedWork>& works : scenario.work)
    for (const SimulatedWork& work : works)
      if (work.tasks > 0)
        longest_s = std::max(longest_s, work.task_s * (work.children > 0 ? 2 : 1));
  return longest_s * fastest;
}

}  // namespace

double ideal_makespan_s(const LendingScenario& scenario) {
  const double card_s = scenario.bytes_per_task / 2 / scenario.card_bytes_per_s;
  double lending_s = 0;
  OwnWork all, node;
  for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank) {
    const OwnWork own = own_work(scenario, rank);
    all.add(own);
    node.add(own);
    // A rank packs each task that it lends, and unpacks its result.
    lending_s = std::max(lending_s, own.lending_s(2 * scenario.task_overhead_s));
    if ((rank + 1) % scenario.ranks_per_node != 0 && rank + 1 < scenario.num_ranks) continue;
    if (!scenario.machine) lending_s = std::max(lending_s, node.lending_s(card_s));
    node = {};
  }
  return std::max({all.work_s / all.pace, longest_chain_s(scenario), lending_s});
}

}  // namespace poise
