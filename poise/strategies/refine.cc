// SPDX-License-Identifier: BSD-3-Clause
/// Refine: places above a threshold give tasks away until no place is above it.
///
/// Charm++'s RefineLB. The threshold is `tolerance` times the average if that can be reached;
/// otherwise a bisection finds the lowest threshold between that and the current makespan.
/// Overloaded places give away tasks, the busiest place first. Each gives away the smallest task
/// that brings it below the threshold or, if there is none, the largest task that fits elsewhere;
/// the task goes to the place that finishes it first. So few tasks move, and none if the makespan
/// is within tolerance. Among equals, the task and the place with the lower id are chosen. Ignores
/// messages. O(n + (p + moved log p) log(1 / precision)).
#include <algorithm>
#include <optional>

#include "poise/placement/first_to_finish.h"
#include "poise/placement/metrics.h"
#include "poise/placement/tasks_by_place.h"
#include "poise/search/lowest_threshold.h"
#include "poise/strategies/strategy.h"
#include "poise/strategies/tuning.h"

namespace poise {

namespace {

struct Donor {
  PlaceId place;
  double busy_s;
};

struct Loads {
  const Machine& machine;
  const TasksByPlace& tasks;
  std::vector<double> busy_s;  // per place, current
};

/// Places above the threshold, busiest first. Of equally busy places, the one with the lower number
/// comes first.
std::vector<Donor> places_above(double threshold_s, const std::vector<double>& busy_s) {
  std::vector<Donor> donors;
  for (PlaceId p = 0; p < busy_s.size(); ++p)
    if (busy_s[p] > threshold_s) donors.push_back({p, busy_s[p]});
  std::stable_sort(donors.begin(), donors.end(),
                   [](const Donor& a, const Donor& b) { return a.busy_s > b.busy_s; });
  return donors;
}

/// Moves tasks away from the donor, an overloaded place, until it is below the threshold. Returns
/// false if its tasks do not fit on other places. Visiting each task once is enough: other places
/// only fill up, so a task that does not fit now will not fit later.
bool relieve(const Loads& now, double threshold_s, Donor donor, FirstToFinish& places,
             std::vector<Migration>& moves) {
  const double speed = now.machine.speed_of(donor.place);
  const auto tasks = now.tasks.on(donor.place);
  for (std::size_t i = 0; i < tasks.size() && donor.busy_s > threshold_s; ++i) {
    const auto [task, load_s] = tasks[i];
    if (load_s == 0) break;
    const bool smaller_is_enough =
        i + 1 < tasks.size() && donor.busy_s - tasks[i + 1].load_s / speed <= threshold_s;
    if (smaller_is_enough) continue;
    const PlaceId to = places.with(load_s);
    const double busy_after_s = places.busy_s(to) + load_s / now.machine.speed_of(to);
    if (busy_after_s > threshold_s) continue;
    places.set(to, busy_after_s);
    moves.push_back({task, donor.place, to});
    donor.busy_s = std::max(0.0, donor.busy_s - load_s / speed);
  }
  places.set(donor.place, donor.busy_s);
  return donor.busy_s <= threshold_s;
}

/// Returns the current placement with the moves that bring every place below the threshold, or
/// nothing if that fails.
std::optional<Placement> refine_to(double threshold_s, const Loads& now, const Placement& current) {
  FirstToFinish places(now.machine, now.busy_s);
  std::vector<Migration> moves;
  for (const Donor& donor : places_above(threshold_s, now.busy_s))
    if (!relieve(now, threshold_s, donor, places, moves)) return std::nullopt;
  Placement placement = current;
  for (const Migration& move : moves) placement.move(move.task, move.to);
  return placement;
}

}  // namespace

Placement refine(const Problem& problem, const Knobs& knobs) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  const std::vector<double> busy_s = work_s(machine, workload, problem.current);
  const double average = average_s(machine, workload);
  const double hoped_s =
      std::max(knobs["tolerance"] * average, makespan_bound_s(machine, workload, problem.current));
  const double now_s = *std::max_element(busy_s.begin(), busy_s.end());
  if (now_s <= hoped_s) return problem.current;
  const TasksByPlace tasks(workload, problem.current, machine.num_places());
  return lowest_threshold(
      hoped_s, now_s, kStrategiesTuning.refine_precision * average, problem.current,
      [&](double threshold_s) {
        return refine_to(threshold_s, {machine, tasks, busy_s}, problem.current);
      });
}

}  // namespace poise
