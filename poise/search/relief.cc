// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/relief.h"

#include <algorithm>
#include <span>
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

/// Returns the places that are busier than the threshold, busiest first. Of equally busy places,
/// the one with the lower number comes first.
std::vector<Donor> places_above(double threshold_s, const std::vector<double>& busy_s) {
  std::vector<Donor> donors;
  for (PlaceId p = 0; p < busy_s.size(); ++p)
    if (busy_s[p] > threshold_s) donors.push_back({p, busy_s[p]});
  std::stable_sort(donors.begin(), donors.end(),
                   [](const Donor& a, const Donor& b) { return a.busy_s > b.busy_s; });
  return donors;
}

/// Moves tasks away from the donor, an overloaded place, until the donor is below the threshold.
/// Returns false if too few of its tasks fit on other places. Visits each task only once: other
/// places only become fuller, so a task that does not fit now will not fit later.
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

/// Searches for the best threshold on busy times for with_few_moves(). A threshold is given as a
/// fraction: 0 is the lower bound on the largest busy time, 1 is the present largest busy time.
class FewMoves {
 public:
  FewMoves(const Problem& problem, double steps)
      : FewMoves(problem, steps,
                 place_times(problem.machine, problem.workload, problem.costs, problem.current)
                     .busy_s()) {}

  std::optional<Placement> best() && {
    for (const double part : kShownReturnParts) try_part(part);
    if (!best_) return std::nullopt;
    double below = 0, above = 1;  // the tried fractions just below and above the best one
    for (const double part : kShownReturnParts) {
      if (part < best_part_) below = part;
      if (part > best_part_) above = std::min(above, part);
    }
    for (int round = 0; round < kNarrowings; ++round) {
      const double middle = best_part_, low = (below + middle) / 2, high = (middle + above) / 2;
      if (low < middle) try_part(low);
      if (high > middle) try_part(high);
      if (best_part_ <= middle) above = best_part_ < middle ? middle : high;
      if (best_part_ >= middle) below = best_part_ > middle ? middle : low;
    }
    return std::move(best_);
  }

 private:
  FewMoves(const Problem& problem, double steps, const std::vector<double>& busy_s)
      : problem_(problem),
        steps_(steps),
        relief_(problem, busy_s),
        hoped_s_(hoped_s_of(problem, busy_s)),
        most_saved_s_(std::max(0.0, relief_.busiest_s() - hoped_s_)),
        shortest_s_(steps * relief_.busiest_s()) {}

  static double hoped_s_of(const Problem& problem, const std::vector<double>& busy_s) {
    double sum_s = 0;
    for (PlaceId p = 0; p < busy_s.size(); ++p) sum_s += problem.machine.speed_of(p) * busy_s[p];
    return std::max(sum_s / problem.machine.total_speed(),
                    makespan_bound_s(problem.machine, problem.workload, problem.current));
  }

  void try_part(double part) {
    const double threshold_s = hoped_s_ + part * most_saved_s_;
    std::optional<Placement> relieved = relief_.to(threshold_s);
    if (!relieved) return;
    const double migration_s = migration_cost(problem_.machine, problem_.workload, problem_.costs,
                                              problem_.current, *relieved)
                                   .seconds;
    if (steps_ * threshold_s + migration_s >= shortest_s_) return;
    shortest_s_ = steps_ * threshold_s + migration_s;
    best_part_ = part;
    best_ = std::move(relieved);
  }

  const Problem& problem_;
  const double steps_;
  const Relief relief_;
  const double hoped_s_, most_saved_s_;
  double shortest_s_, best_part_ = 1;
  std::optional<Placement> best_;  // empty: no threshold is better than the largest busy time
};

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
  return FewMoves(problem, steps).best();
}

}  // namespace poise
