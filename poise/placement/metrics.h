// SPDX-License-Identifier: BSD-3-Clause
// The cost of a placement: predicted time of a phase, lower bounds, traffic and migrations.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Predictions for one phase under a placement; times in seconds.
///
///     work(p) = background(p) + sum of load(t) / speed(p) over tasks t on p
///     comm(p) = sum over messages received on p from another place q of
///               count * seconds_per_message * latency_factor(q, p) +
///               bytes * seconds_per_byte * bandwidth_factor(q, p)
///     busy(p) = work(p) + comm(p)
///
/// This is formula `nuco`; message_times.h has the formula `physical`. If places wait for each
/// other after each subphase (subphases.h), the busiest times of the subphases are added up.
struct Metrics {
  double iteration_s = 0;       // max busy(p)
  double makespan_s = 0;        // max work(p)
  double makespan_bound_s = 0;  // lower bound on the makespan of any placement
  double average_s = 0;         // all work / sum of all speeds: the makespan with perfect balance
  double imbalance = 0;         // makespan / average; 1 if there is no work
  double max_comm_s = 0;        // max comm(p)
  std::uint64_t hop_bytes = 0;  // bytes of each message times the hops between its places
  std::uint64_t internode_bytes = 0;  // bytes between different groups of the level "node"
  double nuco_messages = 0;           // sum of the NUCO factors of all messages between places
  std::uint64_t migrations = 0;       // tasks whose place changes, movable or not
  std::uint64_t migrated_bytes = 0;
  double migration_s = 0;  // seconds of the place that takes longest to send or receive tasks
};

/// All metrics of placement `after`, with migrations from `before`. O(tasks + messages * levels).
Metrics evaluate(const Machine& machine, const Workload& workload, const CostModel& costs,
                 const Placement& before, const Placement& after);

/// Seconds of work of each place in a phase, and the seconds by which messages make it busy for
/// longer. If the phase has several subphases (subphases.h), also the same for each subphase, at
/// index place * number of subphases + subphase; otherwise these two vectors are empty.
struct PlaceTimes {
  std::vector<double> work_s, comm_s;
  std::vector<double> subphase_work_s = {}, subphase_comm_s = {};

  std::vector<double> busy_s() const;  // of each place: its work plus its messages
};
PlaceTimes place_times(const Machine& machine, const Workload& workload, const CostModel& costs,
                       const Placement& placement);

/// The times of a phase: the time of the slowest place in each subphase, added up over all
/// subphases, or the longest of these times if subphases overlap.
struct PhaseTimes {
  double iteration_s = 0, makespan_s = 0;  // as in Metrics
};
PhaseTimes phase_times(const Workload& workload, const PlaceTimes& times);

/// The work of each place in seconds: the sum of the loads of its tasks, divided by the place's
/// speed, plus its background load.
std::vector<double> work_s(const Machine& machine, const Workload& workload,
                           const Placement& placement);

/// For each place, the seconds of work that cannot move away from it: background load and tasks
/// that are not movable.
std::vector<double> fixed_work_s(const Machine& machine, const Workload& workload,
                                 const Placement& current);

/// Seconds that the receiver's place spends on receiving the message.
double message_s(const Machine& machine, const CostModel& costs, const Message& message,
                 PlaceId from, PlaceId to);

/// The cost of moving tasks from one placement to another.
struct MigrationCost {
  std::uint64_t tasks = 0, bytes = 0;
  double seconds = 0;  // time until the last task has arrived
};
MigrationCost migration_cost(const Machine& machine, const Workload& workload,
                             const CostModel& costs, const Placement& before,
                             const Placement& after);

/// Per place, the seconds until all tasks that leave it or arrive there have moved; the largest of
/// them is MigrationCost::seconds.
std::vector<double> migration_s_by_place(const Machine& machine, const Workload& workload,
                                         const CostModel& costs, const Placement& before,
                                         const Placement& after);

/// Lower bounds on the makespan of any placement, each derived in a different way.
struct MakespanBounds {
  double average_s = 0;       // all work / sum of all speeds
  double largest_task_s = 0;  // time of the largest task on the fastest place
  double pigeonhole_s = 0;    // for any k, one of p places holds k + 1 of the k p + 1 largest tasks
  /// Lower bound from the pinned tasks of each place and the largest movable tasks.
  double pinned_s = 0;

  double largest_s() const;
};
MakespanBounds makespan_bounds(const Machine& machine, const Workload& workload,
                               const Placement& current);

/// The largest of the lower bounds on the makespan.
double makespan_bound_s(const Machine& machine, const Workload& workload, const Placement& current);

/// All work divided by the sum of all speeds: the time of every place if load could be split
/// anywhere.
double average_s(const Machine& machine, const Workload& workload);

}  // namespace poise
