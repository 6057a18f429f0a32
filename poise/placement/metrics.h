// What a placement costs: the predicted time of a phase, its bounds, and its traffic.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Predicted time of one phase under a placement; times in seconds.
///
///     work(p) = background(p) + sum of load(t) / speed(p) over tasks t on p
///     comm(p) = sum over messages received on p from another place q of
///               count * seconds_per_message * latency_factor(q, p) +
///               bytes * seconds_per_byte * bandwidth_factor(q, p)
///     busy(p) = work(p) + comm(p)
///
/// Where places wait for each other in each subphase (subphases.h), each has its own busiest place,
/// and their times add up.
struct Metrics {
  double iteration_s = 0;       // max busy(p)
  double makespan_s = 0;        // max work(p)
  double makespan_bound_s = 0;  // no placement has a smaller makespan
  double average_s = 0;         // all work over all speed: a perfect balance
  double imbalance = 0;         // makespan / average; 1 when all is idle
  double max_comm_s = 0;        // max comm(p)
  std::uint64_t hop_bytes = 0;  // bytes of each message times machine edges between its places
  std::uint64_t internode_bytes = 0;  // bytes between different groups of the level "node"
  double nuco_messages = 0;           // messages between places, each times its NUCO factor
  std::uint64_t migrations = 0;       // movable or not: tasks not where they were
  std::uint64_t migrated_bytes = 0;
  double migration_s = 0;  // the place that sends or receives most, at seconds_per_migrated_byte
};

/// All metrics of `after`, reached from `before`. O(tasks + messages * levels).
Metrics evaluate(const Machine& machine, const Workload& workload, const CostModel& costs,
                 const Placement& before, const Placement& after);

/// What each place does in a phase, for pictures and for strategies that start from it.
struct PlaceTimes {
  std::vector<double> work_s, comm_s;
};
PlaceTimes place_times(const Machine& machine, const Workload& workload, const CostModel& costs,
                       const Placement& placement);

/// What the slowest places make of it.
struct PhaseTimes {
  double iteration_s = 0, makespan_s = 0;  // as in Metrics
};
PhaseTimes phase_times(const Machine& machine, const Workload& workload, const Placement& placement,
                       const PlaceTimes& times);

/// Per place, background load and the loads of its tasks over its speed.
std::vector<double> work_s(const Machine& machine, const Workload& workload,
                           const Placement& placement);

/// Per place, the work that no strategy can move: background load and tasks that are not movable.
std::vector<double> fixed_work_s(const Machine& machine, const Workload& workload,
                                 const Placement& current);

/// Seconds that receiving a message costs the place of its receiver.
double message_s(const Machine& machine, const CostModel& costs, const Message& message,
                 PlaceId from, PlaceId to);

/// Reasons why no placement has a smaller makespan.
struct MakespanBounds {
  double average_s = 0;       // all work over all speed
  double largest_task_s = 0;  // on the fastest place
  double pigeonhole_s = 0;    // of the k p + 1 largest tasks some place holds k + 1
  double pinned_s = 0;        // what cannot move where it is, the largest movable tasks beside it

  double largest_s() const;
};
MakespanBounds makespan_bounds(const Machine& machine, const Workload& workload,
                               const Placement& current);

/// The largest of the bounds.
double makespan_bound_s(const Machine& machine, const Workload& workload, const Placement& current);

/// All work over all speed: what every place would need if work could be split at will.
double average_s(const Machine& machine, const Workload& workload);

}  // namespace poise
