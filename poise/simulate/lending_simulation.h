// SPDX-License-Identifier: BSD-3-Clause
// Simulates ranks that lend tasks to one another, in virtual time and with the decisions of the
// tasks runtime: each rank has a LendingAgent and a TerminationDetector.
//
// The simulation covers tasks and their times; messages with latency, bytes, overhead and random
// delays; ranks that differ in speed, that begin late to wait for their tasks, or that share their
// core with a competitor; progress threads; and either network cards that send one message at a
// time, or all links of a machine (lending_links.h). It covers neither the load table in shared
// memory nor several threads per rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poise/simulate/lending_scenario.h"
#include "poise/trace/timeline.h"

namespace poise {

/// The activity of a rank in all waits or, with LendingScenario::meets, in the last wait.
struct SimulatedRank {
  double left_s = 0;  // time at which the rank left the last wait
  /// Time spent on tasks, messages and decisions, plus the time before the rank entered the wait.
  double busy_s = 0;
  std::vector<Span> spans = {};  // intervals of work and waiting, if has_spans asks for them
};

struct LendingOutcome {
  // The outcome of all waits. With LendingScenario::meets, the outcome of the last wait only, and
  // times count from the start of that wait.
  double makespan_s = 0;                     // when the last result was back at its owner
  double end_s = 0;                          // when the last rank left the last wait
  std::uint64_t lent = 0;                    // loans; a task counts each time it is lent
  std::uint64_t ran_on_other_nodes = 0;      // tasks that did not run on their owner's node
  double lent_bytes = 0;                     // bytes of lent tasks, of copies, and of their results
  std::uint64_t copies = 0, copies_run = 0;  // copies of tasks; copies that ran
  std::vector<SimulatedRank> ranks;

  // The following numbers cover all waits, even with LendingScenario::meets.
  std::uint64_t tasks = 0;  // tasks that have finished
  std::uint64_t messages = 0, requests = 0, events = 0;
  std::uint64_t max_messages_from_one = 0;
  /// Mean age, in seconds, of what a thief knew about its victim's load when it sent a request.
  double mean_load_age_s = 0;
  double max_bytes_out = 0;  // largest number of bytes that one node sent
  std::uint64_t max_lent_by_one = 0;
  std::size_t max_peer_bytes = 0;  // bytes of the largest table that a rank keeps about other ranks
  std::string trouble;             // empty if the simulation ended as it should
};

/// Runs the scenario. `trouble` in the result describes the first violation, which is one of these:
/// a task was lost; a task was run twice; the wait ended before all tasks had finished; nothing can
/// happen any more, but the wait has not ended (deadlock); the wait has not ended after max_events
/// events.
LendingOutcome simulate_lending(const LendingScenario& scenario);

}  // namespace poise
