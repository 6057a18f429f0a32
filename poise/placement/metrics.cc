// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/metrics.h"

#include <algorithm>
#include <functional>

#include "poise/placement/message_times.h"
#include "poise/placement/subphases.h"

namespace poise {

namespace {

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

double fastest_speed(const Machine& machine) {
  double fastest = 0;
  for (const Place& place : machine.places()) fastest = std::max(fastest, place.speed);
  return fastest;
}

/// For every k, one of the p places must run at least k + 1 of the k p + 1 largest tasks. Its load
/// is smallest if these are the k + 1 smallest of the k p + 1 tasks.
double pigeonhole_load_s(const Workload& workload, std::uint32_t num_places) {
  std::vector<double> loads_s;
  loads_s.reserve(workload.tasks.size());
  for (const Task& task : workload.tasks) loads_s.push_back(task.load_s);
  std::sort(loads_s.begin(), loads_s.end(), std::greater<>());
  std::vector<double> sum_before(loads_s.size() + 1, 0);
  for (std::size_t i = 0; i < loads_s.size(); ++i) sum_before[i + 1] = sum_before[i] + loads_s[i];
  double bound = 0;
  for (std::size_t k = 0; k * num_places + 1 <= loads_s.size(); ++k) {
    const std::size_t end = k * num_places + 1;
    bound = std::max(bound, sum_before[end] - sum_before[end - (k + 1)]);
  }
  return bound;
}

/// Lower bound on the makespan from fixed work and the largest movable tasks. Either two of these
/// tasks share a place, or each has a place of its own. In the second case it is best to put the
/// largest task where the fixed work is smallest, the second largest where it is second smallest,
/// and so on.
double pinned_bound_s(const Workload& workload, std::vector<double> fixed_s, double speed) {
  double bound_s = largest(fixed_s), apart_s = 0;
  if (bound_s == 0) return 0;
  std::vector<double> alone_s;
  for (const Task& task : workload.tasks)
    if (task.movable) alone_s.push_back(task.load_s / speed);
  const std::size_t count = std::min(alone_s.size(), fixed_s.size());
  std::partial_sort(alone_s.begin(), alone_s.begin() + count, alone_s.end(), std::greater<>());
  std::sort(fixed_s.begin(), fixed_s.end());
  for (std::size_t i = 0; i < count; ++i) {
    apart_s = std::max(apart_s, alone_s[i] + fixed_s[i]);
    const double together_s = i == 0 ? apart_s : alone_s[i - 1] + alone_s[i] + fixed_s[0];
    bound_s = std::max(bound_s, std::min(apart_s, together_s));
  }
  return bound_s;
}

/// Returns the time that the fraction `part` of the messages of place p adds to the work of p; see
/// message_times.h. Latencies overlap, so even a part of the messages costs the whole latency.
double added_s(const MessageTimes& times, PlaceId p, double work_s, double part, double overlap) {
  if (part <= 0) return 0;
  const double exposed_s = part * times.exposed_s[p] + (1 - part) * times.latency_s[p];
  return busy_s(work_s, part * times.overhead_s[p], exposed_s, overlap) - work_s;
}

/// Returns for each place and subphase the seconds that messages add to its work. `work_s` is the
/// work of each place and subphase, with the same indices as the result.
std::vector<double> comm_s(const Machine& machine, const Workload& workload, const CostModel& costs,
                           const Placement& placement, const Subphases& subphases,
                           const std::vector<double>& work_s) {
  const std::uint32_t count = subphases.count();
  const auto by_subphase = [&](const auto& seconds_of) {
    std::vector<double> seconds;
    seconds.reserve(work_s.size());
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      for (std::uint32_t s = 0; s < count; ++s)
        seconds.push_back(seconds_of(p, work_s[seconds.size()], subphases.part_of_rest(s)));
    return seconds;
  };
  if (costs.formula == CostFormula::physical) {
    const MessageTimes times = message_times(machine, workload, costs, placement);
    return by_subphase([&](PlaceId p, double work, double part) {
      return added_s(times, p, work, part, workload.overlap);
    });
  }
  std::vector<double> received_s(machine.num_places(), 0);
  for (const Message& message : workload.messages) {
    const PlaceId from = placement.of(message.from), to = placement.of(message.to);
    received_s[to] += message_s(machine, costs, message, from, to);
  }
  return by_subphase([&](PlaceId p, double, double part) { return part * received_s[p]; });
}

/// Lower bounds on the makespan if subphases overlap, or if the speed of a place depends on the
/// subphase.
MakespanBounds subphase_bounds(const Machine& machine, const Workload& workload,
                               const Subphases& subphases) {
  const std::uint32_t count = subphases.count();
  std::vector<double> loads_s(count, 0), speeds(count, 0), fastest(count, 0);
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    for (std::uint32_t s = 0; s < count; ++s) {
      const double speed = subphases.speed_of(machine, p, s);
      speeds[s] += speed;
      fastest[s] = std::max(fastest[s], speed);
      if (!workload.background_s.empty())
        loads_s[s] += workload.background_s[p] * subphases.part_of_rest(s) * speed;
    }
  MakespanBounds bounds{0, 0, 0, 0};
  std::vector<double> task_s(count);
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    for (std::uint32_t s = 0; s < count; ++s) {
      loads_s[s] += subphases.load_s(t, s);
      task_s[s] = subphases.load_s(t, s) / fastest[s];
    }
    bounds.largest_task_s = std::max(bounds.largest_task_s, subphases.time_of_all_s(task_s));
  }
  for (std::uint32_t s = 0; s < count; ++s) loads_s[s] /= speeds[s];
  bounds.average_s = subphases.time_of_all_s(loads_s);
  return bounds;
}

}  // namespace

std::vector<double> work_s(const Machine& machine, const Workload& workload,
                           const Placement& placement) {
  std::vector<double> load_s(machine.num_places(), 0);
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    load_s[placement.of(t)] += workload.tasks[t].load_s;
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    load_s[p] /= machine.speed_of(p);
    if (!workload.background_s.empty()) load_s[p] += workload.background_s[p];
  }
  return load_s;
}

std::vector<double> fixed_work_s(const Machine& machine, const Workload& workload,
                                 const Placement& current) {
  std::vector<double> work_s(machine.num_places(), 0);
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (!workload.tasks[t].movable) work_s[current.of(t)] += workload.tasks[t].load_s;
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    work_s[p] /= machine.speed_of(p);
    if (!workload.background_s.empty()) work_s[p] += workload.background_s[p];
  }
  return work_s;
}

double message_s(const Machine& machine, const CostModel& costs, const Message& message,
                 PlaceId from, PlaceId to) {
  if (from == to) return 0;
  if (costs.formula == CostFormula::physical)
    return physical_message_s(machine, costs, message, from, to);
  return message.count * costs.seconds_per_message * machine.message_factor(from, to) +
         message.bytes * costs.seconds_per_byte * machine.byte_factor(from, to);
}

double average_s(const Machine& machine, const Workload& workload) {
  double work = total_load_s(workload);
  for (PlaceId p = 0; p < workload.background_s.size(); ++p)
    work += workload.background_s[p] * machine.speed_of(p);
  return work / machine.total_speed();
}

double MakespanBounds::largest_s() const {
  return std::max({average_s, largest_task_s, pigeonhole_s, pinned_s});
}

MakespanBounds makespan_bounds(const Machine& machine, const Workload& workload,
                               const Placement& current) {
  const bool overlap = workload.subphase_rule == SubphaseRule::overlap;
  if (overlap || !workload.subphase_speed.empty())
    if (const Subphases subphases(workload); subphases.count() > 1)
      return subphase_bounds(machine, workload, subphases);
  double largest_load_s = 0;
  for (const Task& task : workload.tasks) largest_load_s = std::max(largest_load_s, task.load_s);
  const double speed = fastest_speed(machine);
  return {average_s(machine, workload), largest_load_s / speed,
          pigeonhole_load_s(workload, machine.num_places()) / speed,
          pinned_bound_s(workload, fixed_work_s(machine, workload, current), speed)};
}

double makespan_bound_s(const Machine& machine, const Workload& workload,
                        const Placement& current) {
  return makespan_bounds(machine, workload, current).largest_s();
}

PlaceTimes place_times(const Machine& machine, const Workload& workload, const CostModel& costs,
                       const Placement& placement) {
  const Subphases subphases(workload);
  const std::uint32_t count = subphases.count();
  PlaceTimes times;
  times.work_s = work_s(machine, workload, placement);
  if (count == 1) {
    times.comm_s = comm_s(machine, workload, costs, placement, subphases, times.work_s);
    return times;
  }
  times.subphase_work_s = subphase_work_s(machine, workload, subphases, placement);
  times.subphase_comm_s =
      comm_s(machine, workload, costs, placement, subphases, times.subphase_work_s);
  times.comm_s.resize(machine.num_places(), 0);
  for (std::size_t i = 0; i < times.subphase_comm_s.size(); ++i)
    times.comm_s[i / count] += times.subphase_comm_s[i];
  return times;
}

std::vector<double> PlaceTimes::busy_s() const {
  std::vector<double> busy_s = work_s;
  for (PlaceId p = 0; p < busy_s.size(); ++p) busy_s[p] += comm_s[p];
  return busy_s;
}

PhaseTimes phase_times(const Workload& workload, const PlaceTimes& times) {
  const Subphases subphases(workload);
  const std::uint32_t count = subphases.count();
  const std::vector<double>& work_s = count == 1 ? times.work_s : times.subphase_work_s;
  const std::vector<double>& comm_s = count == 1 ? times.comm_s : times.subphase_comm_s;
  std::vector<double> makespan_s(count, 0), iteration_s(count, 0);
  for (std::size_t i = 0; i < work_s.size(); ++i) {
    const std::size_t s = i % count;
    makespan_s[s] = std::max(makespan_s[s], work_s[i]);
    iteration_s[s] = std::max(iteration_s[s], work_s[i] + comm_s[i]);
  }
  return {subphases.time_of_all_s(iteration_s), subphases.time_of_all_s(makespan_s)};
}

MigrationCost migration_cost(const Machine& machine, const Workload& workload,
                             const CostModel& costs, const Placement& before,
                             const Placement& after) {
  MigrationCost cost;
  for (const Migration& migration : migrations(before, after)) {
    ++cost.tasks;
    cost.bytes += workload.tasks[migration.task].bytes;
  }
  cost.seconds = largest(migration_s_by_place(machine, workload, costs, before, after));
  return cost;
}

std::vector<double> migration_s_by_place(const Machine& machine, const Workload& workload,
                                         const CostModel& costs, const Placement& before,
                                         const Placement& after) {
  if (costs.formula == CostFormula::physical)
    return physical_migration_s(machine, workload, costs, before, after);
  // Under the formula `nuco`, a place sends its tasks one after another, and receives its tasks one
  // after another. Sending and receiving overlap, and all places work at the same time.
  std::vector<double> sent(machine.num_places(), 0), received(machine.num_places(), 0);
  for (const Migration& migration : migrations(before, after)) {
    const std::uint64_t bytes = workload.tasks[migration.task].bytes;
    sent[migration.from] += bytes;
    received[migration.to] += bytes;
  }
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    sent[p] = costs.seconds_per_migrated_byte * std::max(sent[p], received[p]);
  return sent;
}

Metrics evaluate(const Machine& machine, const Workload& workload, const CostModel& costs,
                 const Placement& before, const Placement& after) {
  Metrics metrics;
  const PlaceTimes times = place_times(machine, workload, costs, after);
  const PhaseTimes phase = phase_times(workload, times);
  metrics.iteration_s = phase.iteration_s;
  metrics.makespan_s = phase.makespan_s;
  metrics.max_comm_s = largest(times.comm_s);
  const MakespanBounds bounds = makespan_bounds(machine, workload, before);
  metrics.average_s = bounds.average_s;
  metrics.makespan_bound_s = bounds.largest_s();
  metrics.imbalance = metrics.average_s > 0 ? metrics.makespan_s / metrics.average_s : 1;
  for (const Message& message : workload.messages) {
    const PlaceId from = after.of(message.from), to = after.of(message.to);
    if (from == to) continue;
    metrics.hop_bytes += message.bytes * machine.hops(from, to);
    if (machine.node_of_place(from) != machine.node_of_place(to))
      metrics.internode_bytes += message.bytes;
    metrics.nuco_messages += message.count * machine.message_factor(from, to);
  }
  const MigrationCost migration = migration_cost(machine, workload, costs, before, after);
  metrics.migrations = migration.tasks;
  metrics.migrated_bytes = migration.bytes;
  metrics.migration_s = migration.seconds;
  return metrics;
}

}  // namespace poise
