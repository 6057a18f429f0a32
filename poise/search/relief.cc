// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/relief.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "poise/placement/first_to_finish.h"
#include "poise/placement/metrics.h"
#include "poise/search/tuning.h"

namespace poise {

namespace {

struct Donor {
  PlaceId place;
  double busy_s;
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
bool relieve(const Machine& machine, std::span<const LoadedTask> tasks, double threshold_s,
             Donor donor, FirstToFinish& places, Placement& placement) {
  const double speed = machine.speed_of(donor.place);
  for (std::size_t i = 0; i < tasks.size() && donor.busy_s > threshold_s; ++i) {
    const auto [task, load_s] = tasks[i];
    if (load_s == 0) break;
    const bool smaller_is_enough =
        i + 1 < tasks.size() && donor.busy_s - tasks[i + 1].load_s / speed <= threshold_s;
    if (smaller_is_enough) continue;
    const PlaceId to = places.with(load_s);
    const double busy_after_s = places.busy_s(to) + load_s / machine.speed_of(to);
    if (busy_after_s > threshold_s) continue;
    places.set(to, busy_after_s);
    placement.move(task, to);
    donor.busy_s = std::max(0.0, donor.busy_s - load_s / speed);
  }
  places.set(donor.place, donor.busy_s);
  return donor.busy_s <= threshold_s;
}

}  // namespace

Relief::Relief(const Problem& problem, std::vector<double> busy_s)
    : problem_(problem),
      tasks_(problem.workload, problem.current, problem.machine.num_places()),
      busy_s_(std::move(busy_s)) {}

double Relief::busiest_s() const { return *std::max_element(busy_s_.begin(), busy_s_.end()); }

std::optional<Placement> Relief::to(double threshold_s) const {
  FirstToFinish places(problem_.machine, busy_s_);
  Placement placement = problem_.current;
  for (const Donor& donor : places_above(threshold_s, busy_s_))
    if (!relieve(problem_.machine, tasks_.on(donor.place), threshold_s, donor, places, placement))
      return std::nullopt;
  return placement;
}

std::optional<Placement> with_few_moves(const Problem& problem, double steps) {
  const auto& [machine, workload, current, costs] =
      std::tie(problem.machine, problem.workload, problem.current, problem.costs);
  auto [busy_s, comm_s] = place_times(machine, workload, costs, current);
  double sum_s = 0;
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    sum_s += machine.speed_of(p) * (busy_s[p] += comm_s[p]);
  const Relief relief(problem, std::move(busy_s));
  const double hoped_s = std::max(sum_s / machine.total_speed(),
                                  makespan_bound_s(machine, workload, current)),
               most_saved_s = std::max(0.0, relief.busiest_s() - hoped_s);
  std::optional<Placement> best;
  double shortest_s = steps * relief.busiest_s();
  for (const double part : kShownReturnParts) {
    const double threshold_s = hoped_s + part * most_saved_s;
    std::optional<Placement> relieved = relief.to(threshold_s);
    if (!relieved) continue;
    const double total_s =
        steps * threshold_s + migration_cost(machine, workload, costs, current, *relieved).seconds;
    if (total_s >= shortest_s) continue;
    shortest_s = total_s;
    best = std::move(relieved);
  }
  return best;
}

}  // namespace poise
