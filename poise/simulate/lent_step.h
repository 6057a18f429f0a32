// SPDX-License-Identifier: BSD-3-Clause
// Predicts the time of a step if places lend tasks to each other, as ranks of the tasks runtime do.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/simulate/lending_simulation.h"
#include "poise/workload/workload.h"

namespace poise {

/// The ways in which the messages about lent tasks travel.
enum class LendingNetwork : std::uint8_t {
  cards,  // mean latencies of the machine; messages between nodes wait for the sender's network
          // card
  links   // messages cross all links of the machine (lending_links.h)
};

/// How the places of a step help one another.
struct LendingOptions {
  bool lends = false;           // the places lend tasks to one another
  double replicated_share = 0;  // share of its tasks that each place copies to others before it
                                // begins; see LendingScenario
  bool shares_tokens = false;
  double news_delay_s = 0;

  bool is_on() const { return lends || replicated_share > 0; }
};

/// The number of lent tasks in one step, or in several steps together, and the time that lending
/// saved.
struct Loans {
  std::uint64_t tasks = 0;       // number of loans; a task counts each time it is lent
  std::uint64_t copies_run = 0;  // tasks that ran on a place that had a copy of them
  std::uint64_t ran_on_other_nodes = 0;
  double bytes = 0;    // bytes of the lent tasks, of all copies, and of their results
  double saved_s = 0;  // time by which the iteration is shorter than without lending

  Loans& operator+=(const Loans& other);
};

/// The activities of the places in a step.
struct LentStep {
  double end_s = 0;  // when every rank knows that all tasks have finished
  Loans loans = {};  // without saved_s
  std::vector<SimulatedRank> places = {};
};

/// Returns a scenario with no ranks and no work. Latencies, bandwidths and CPU times of messages
/// are those of the machine (cost_model.h); all network cards of a node count as one. Tasks have no
/// data.
LendingScenario lending_network(const Machine& machine);

/// Describes the step as a scenario for simulate_lending(): each place is a rank with one thread.
/// The rank first does its background load and the tasks that cannot move; then its movable tasks
/// can be lent. Latencies and bandwidths are those of the machine (cost_model.h). `machine` must
/// outlive the scenario, because the scenario may hold a pointer to `machine`. A lent task and its
/// result have equally many bytes; together they have the mean size of all tasks plus 128 bytes.
/// All nodes of the scenario have the same number of places: the mean number of places per node of
/// the machine.
LendingScenario lending_scenario(const Machine& machine, const Workload& workload,
                                 const Placement& placement, const LendingOptions& options,
                                 LendingNetwork network = LendingNetwork::cards);

/// Simulates the step, but not the messages between its tasks. O(events log events), with a few
/// events per task.
LentStep lent_step(const LendingScenario& scenario);

}  // namespace poise
