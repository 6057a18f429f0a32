// SPDX-License-Identifier: BSD-3-Clause
// What a step would take if the places lent tasks to one another, as ranks with the tasks runtime
// do.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/simulate/lending_simulation.h"
#include "poise/workload/workload.h"

namespace poise {

/// How the messages of lending travel.
enum class LendingNetwork : std::uint8_t {
  cards,  // with the mean latencies of the machine; between nodes they wait for the sender's card
  links   // over all links of the machine (lending_links.h)
};

/// What lending did in a step, or in several.
struct Loans {
  std::uint64_t tasks = 0;  // a task that is lent on counts again
  double bytes = 0;         // of these tasks and their results
  double saved_s = 0;       // by which the iteration is shorter than without lending

  Loans& operator+=(const Loans& other);
};

/// What the places of a step did.
struct LentStep {
  double end_s = 0;  // when every rank knows that all tasks have finished
  Loans loans = {};  // without saved_s
  std::vector<SimulatedRank> places = {};
};

/// The step as a scenario: each place is a rank with one thread, and its movable tasks can be lent.
/// Background loads and tasks that cannot move keep the rank busy before that. Latencies and
/// bandwidths are the machine's (cost_model.h); a lent task takes its size and 128 bytes, half of
/// them on the way there. Nodes have the mean number of places. The scenario refers to the machine.
LendingScenario lending_scenario(const Machine& machine, const Workload& workload,
                                 const Placement& placement,
                                 LendingNetwork network = LendingNetwork::cards);

/// Simulates the step. Messages between tasks are not simulated. O(events log events), some events
/// per task.
LentStep lent_step(const LendingScenario& scenario);

}  // namespace poise
