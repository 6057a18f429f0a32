// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/returns.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "poise/placement/busy_times.h"
#include "poise/placement/metrics.h"
#include "poise/placement/migration_times.h"
#include "poise/placement/room.h"
#include "poise/search/tuning.h"

namespace poise {

namespace {

/// Maximum relative difference between two sums of the same numbers, added up in different orders.
constexpr double kRounding = 1e-9;

class Returns {
 public:
  Returns(const Way& way, const Outcome& far)
      : problem_(way.problem),
        outcome_(far),
        times_(problem_.machine, problem_.workload, problem_.costs, far.placement, way.shared),
        room_(problem_, far.placement, way.place_cap_bytes) {
    for (TaskId t = 0; t < problem_.workload.num_tasks(); ++t)
      if (far.placement.of(t) != problem_.current.of(t)) away_.push_back(t);
    std::stable_sort(away_.begin(), away_.end(), [&](TaskId a, TaskId b) {
      return problem_.workload.tasks[a].bytes > problem_.workload.tasks[b].bytes;
    });
  }

  double peak_s() const { return times_.peak_s(); }

  /// Moves each task back to its place in the current placement, unless that place has no room or
  /// some place would then be busy for longer than limit_s.
  const Outcome& up_to(double limit_s) {
    const std::size_t num_returned = std::erase_if(away_, [&](TaskId t) {
      const PlaceId home = problem_.current.of(t);
      if (!room_.fits(t, home) || is_surely_busier(t, home, limit_s) ||
          times_.try_move(t, home).peak_s > limit_s)
        return false;
      times_.move(t, home);
      room_.move(t, home);
      return true;
    });
    if (num_returned == 0) return outcome_;
    times_.refresh();
    outcome_ = outcome_now();
    return outcome_;
  }

 private:
  /// The costs of the placement after the returns so far. If places do not wait between subphases,
  /// the iteration time follows from times_, up to rounding errors, so messages are not examined
  /// again.
  Outcome outcome_now() const {
    Placement placement(times_.places());
    if (problem_.workload.subphase_rule != SubphaseRule::no_wait)
      return outcome_of(problem_, std::move(placement));
    double iteration_s = 0, makespan_s = 0;
    for (PlaceId p = 0; p < problem_.machine.num_places(); ++p)
      iteration_s = std::max(iteration_s, times_.pressure_s(p));
    for (const double work_s : work_s(problem_.machine, problem_.workload, placement))
      makespan_s = std::max(makespan_s, work_s);
    const MigrationCost migration = migration_cost(problem_.machine, problem_.workload,
                                                   problem_.costs, problem_.current, placement);
    return {std::move(placement), iteration_s, migration.seconds, makespan_s, migration.bytes};
  }

  /// True only if the place `home` would certainly be busy for longer than limit_s if t returned.
  /// Most tasks cannot return, and for most of these this quick test replaces a slower trial.
  bool is_surely_busier(TaskId t, PlaceId home, double limit_s) const {
    return times_.least_busy_s(t, home) > (1 + kRounding) * limit_s;
  }

  const Problem& problem_;
  Outcome outcome_;  // the placement after the returns so far, and its costs
  BusyTimes times_;
  Room room_;
  std::vector<TaskId> away_;  // tasks that have not returned, those with the most bytes first
};

/// Moves single tasks back to their places in the current placement if that shortens the total
/// time.
class SingleReturns {
 public:
  SingleReturns(const Way& way, Outcome outcome, std::size_t max_trials)
      : problem_(way.problem),
        steps_(way.steps),
        outcome_(std::move(outcome)),
        times_(problem_.machine, problem_.workload, problem_.costs, outcome_.placement, way.shared),
        moved_(problem_, outcome_.placement),
        room_(problem_, outcome_.placement, way.place_cap_bytes),
        trials_(max_trials) {}

  Outcome result() && {
    bool has_returned = true;
    while (std::exchange(has_returned, false)) {
      look_for_busiest();
      for (const TaskId t : away())
        if (may_shorten(t) && trials_ > 0 && try_return(t)) has_returned = true;
    }
    return std::move(outcome_);
  }

 private:
  /// All tasks that are not at their place in the problem's current placement, those with most
  /// bytes first.
  std::vector<TaskId> away() const {
    std::vector<TaskId> tasks;
    for (const Migration& migration : migrations(problem_.current, outcome_.placement))
      tasks.push_back(migration.task);
    std::stable_sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
      return problem_.workload.tasks[a].bytes > problem_.workload.tasks[b].bytes;
    });
    return tasks;
  }

  void look_for_busiest() {
    times_.refresh();
    busiest_ = 0;
    for (PlaceId p = 0; p < problem_.machine.num_places(); ++p)
      if (times_.pressure_s(p) > times_.pressure_s(busiest_)) busiest_ = p;
    busiest_migrating_s_ = moved_.busiest_place_s();
    const std::vector<double> migration_s = migration_s_by_place(
        problem_.machine, problem_.workload, problem_.costs, problem_.current, outcome_.placement);
    slowest_.fill({});
    for (PlaceId p = 0; p < migration_s.size(); ++p) {
      const Slow slow{migration_s[p], p};
      for (Slow other = slow; Slow & kept : slowest_)
        if (other.seconds > kept.seconds) std::swap(other, kept);
    }
  }

  /// Returns an upper bound on the seconds by which the migration becomes shorter if t returns. The
  /// migration ends when its slowest place is done. After the return, the two places between which
  /// t migrates may have nothing left to migrate. Any other place becomes faster by at most d, the
  /// time that t's migration takes on the resource for which this place waits. So the migration
  /// still takes at least the time of the slowest other place minus d.
  double most_saved_s(TaskId t) const {
    const PlaceId home = problem_.current.of(t), at = outcome_.placement.of(t);
    const auto other = std::ranges::find_if(
        slowest_, [&](const Slow& slow) { return slow.place != home && slow.place != at; });
    const double other_s = other == slowest_.end() ? 0 : other->seconds;
    const double least_s = other_s * (1 - kRounding) - busiest_migrating_s_;
    return outcome_.migration_s - other_s + moved_.resource_s_of(t, least_s);
  }

  /// Returns false if moving t back to its place in the current placement cannot shorten the total
  /// time. There are two such cases. First, the move back adds more time to the iterations than it
  /// saves in the migration. Second, the move back shortens none of these times: the time of the
  /// migration, of the busiest place, and of the resource for which the busiest place waits.
  bool may_shorten(TaskId t) {
    if (problem_.workload.subphase_rule != SubphaseRule::no_wait) return true;
    times_.try_move(t, problem_.current.of(t));
    const double longer_s = steps_ * (times_.least_iteration_s() - outcome_.iteration_s);
    const double saved_s = most_saved_s(t);
    if (longer_s > saved_s) return false;
    if (saved_s > 0) return true;
    const SpotId resource = times_.slowest_resource(busiest_);
    return times_.change_s(busiest_) < 0 || (resource != 0 && times_.change_s(resource) < 0);
  }

  bool try_return(TaskId t) {
    const PlaceId home = problem_.current.of(t);
    if (!room_.fits(t, home)) return false;
    --trials_;
    Placement placement = outcome_.placement;
    placement.move(t, home);
    Outcome trial = outcome_of(problem_, std::move(placement));
    if (trial.total_s(steps_) >= outcome_.total_s(steps_)) return false;
    outcome_ = std::move(trial);
    times_.move(t, home);
    moved_.move(t, home);
    room_.move(t, home);
    look_for_busiest();
    return true;
  }

  const Problem& problem_;
  const double steps_;
  Outcome outcome_;
  BusyTimes times_;
  MigrationTimes moved_;
  Room room_;
  std::size_t trials_;
  PlaceId busiest_ = 0;
  double busiest_migrating_s_ = 0;  // longest time that any place needs to pack and unpack tasks
  struct Slow {
    double seconds = 0;
    PlaceId place = 0;
  };
  std::array<Slow, 3> slowest_;  // the places whose migrations take longest, slowest first
};

/// Goes step by step from the placement `far` back to the current one. For each fraction in `parts`
/// (see kReturnParts), calls take(outcome) with the placement reached, until take() returns false.
/// Finally calls take() with the current placement, even if take() has returned false before.
template <typename Take>
void for_each_point(const Way& way, const Outcome& far, std::span<const double> parts,
                    const Take& take) {
  Returns returns(way, far);
  const double first_s = returns.peak_s(), way_s = std::max(0.0, way.current.iteration_s - first_s);
  for (const double part : parts)
    if (!take(returns.up_to(first_s + part * way_s))) break;
  take(way.current);
}

}  // namespace

Way::Way(const Problem& its_problem, double its_steps, std::uint64_t cap_bytes)
    : problem(its_problem),
      steps(its_steps),
      place_cap_bytes(cap_bytes),
      shared(std::make_shared<const BusyTimes::Shared>(its_problem.machine, its_problem.workload,
                                                       its_problem.costs)),
      current(outcome_of(its_problem, its_problem.current)) {}

Outcome without_needless_moves(const Way& way, Outcome outcome, std::size_t max_trials) {
  if (max_trials == 0) return outcome;
  return SingleReturns(way, std::move(outcome), max_trials).result();
}

Outcome outcome_of(const Problem& problem, Placement placement) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  const Placement& current = problem.current;
  const CostModel& costs = problem.costs;
  const PlaceTimes times = place_times(machine, workload, costs, placement);
  const MigrationCost migration = migration_cost(machine, workload, costs, current, placement);
  const PhaseTimes phase = phase_times(workload, times);
  return {std::move(placement), phase.iteration_s, migration.seconds, phase.makespan_s,
          migration.bytes};
}

std::vector<Outcome> curve_to_current(const Way& way, const Placement& far) {
  std::vector<Outcome> curve{outcome_of(way.problem, far)};
  for_each_point(way, curve.front(), kShownReturnParts, [&](Outcome outcome) {
    while (!curve.empty() && outcome.iteration_s <= (1 + kRounding) * curve.back().iteration_s)
      curve.pop_back();
    curve.push_back(std::move(outcome));
    return true;
  });
  return curve;
}

Outcome best_on_the_way(const Way& way, const Outcome& far, double tolerance) {
  std::vector<Outcome> points{far};  // returns may lengthen iterations, so `far` may be best
  const auto total_s = [&](const Outcome& outcome) { return outcome.total_s(way.steps); };
  int rises = 0;
  const bool is_cheap = far.migration_s <= tolerance * total_s(far);
  const auto parts = std::span(kReturnParts).first(is_cheap ? 1 : std::size(kReturnParts));
  for_each_point(way, far, parts, [&](Outcome outcome) {
    if (total_s(outcome) > total_s(points.back())) ++rises;
    points.push_back(std::move(outcome));
    return rises < 2;
  });
  const auto shortest =
      std::min_element(points.begin(), points.end(),
                       [&](const Outcome& a, const Outcome& b) { return total_s(a) < total_s(b); });
  const double limit_s = total_s(*shortest) * (1 + tolerance);
  auto best = shortest;
  for (auto point = points.begin(); point != points.end(); ++point)
    if (total_s(*point) <= limit_s && point->migrated_bytes < best->migrated_bytes) best = point;
  // The costs of the first point, `far`, and of the last point, the current placement, are exact.
  // Those of other points may contain rounding errors, so they are computed anew.
  const bool is_exact = best == points.begin() || best + 1 == points.end();
  return is_exact ? std::move(*best) : outcome_of(way.problem, std::move(best->placement));
}

}  // namespace poise
