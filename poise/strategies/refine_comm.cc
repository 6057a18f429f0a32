// SPDX-License-Identifier: BSD-3-Clause
/// Refine comm: like refine, but the threshold is for work plus messages.
///
/// After Charm++'s RefineCommLB, with the machine's own costs: busy(p) is work plus messages
/// received, by the cost model and the machine's factors, so the predicted iteration time
/// decreases. The threshold is `tolerance` times the current average busy time or, if that is
/// larger, the lower bound on the makespan. If this threshold cannot be reached, a bisection finds
/// the lowest one that can. A place above the threshold gives away its heaviest tasks that fit
/// elsewhere. A task goes to the place of a communication partner or to the place that would finish
/// it first, whichever makes the total time of messages shorter. Nothing moves if no threshold
/// below the current longest busy time can be reached. Of equal tasks and of equal places, the one
/// with the lower id is chosen. O(n + m + (p + tries degree log p) log(1 / precision)) for n tasks,
/// m messages, p places and `tries` tasks offered, each with `degree` messages.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "poise/machine/factor_table.h"
#include "poise/placement/first_to_finish.h"
#include "poise/placement/metrics.h"
#include "poise/placement/tasks_by_place.h"
#include "poise/search/lowest_threshold.h"
#include "poise/strategies/strategy.h"
#include "poise/strategies/tuning.h"
#include "poise/workload/links.h"

namespace poise {

namespace {

struct Change {
  PlaceId place;
  double seconds;
};

/// The input of all attempts to reach a threshold. Attempts do not change it.
struct Known {
  const Problem& problem;
  FactorTable factors;
  UnitCosts unit;
  Links received, sent;
  TasksByPlace tasks;
  std::vector<double> busy_s;   // busy time of each place before any move
  std::vector<PlaceId> donors;  // all places, busiest first
};

class Attempt {
 public:
  Attempt(const Known& known, double threshold_s)
      : known_(known),
        machine_(known.problem.machine),
        threshold_s_(threshold_s),
        placement_(known.problem.current),
        places_(machine_, known.busy_s),
        sum_at_(machine_.num_places(), 0),
        is_summed_(machine_.num_places(), false) {}

  std::optional<Placement> result() && {
    waiting_.assign(known_.donors.begin(), known_.donors.end());
    visits_.assign(machine_.num_places(), 0);
    for (std::size_t next = 0; next < waiting_.size(); ++next) {
      const PlaceId p = waiting_[next];
      if (places_.busy_s(p) <= threshold_s_) continue;
      if (++visits_[p] > kStrategiesTuning.max_place_visits) return std::nullopt;
      sweep(p, true);
      sweep(p, false);
      if (places_.busy_s(p) > threshold_s_) return std::nullopt;
    }
    return std::move(placement_);
  }

 private:
  /// Offers the tasks of the place to other places, heaviest first and each once, until the place
  /// is within the threshold. With `spares`, a task is skipped if it is enough to move the next
  /// lighter task instead.
  void sweep(PlaceId from, bool spares) {
    const auto tasks = known_.tasks.on(from);
    for (std::size_t i = 0; i < tasks.size() && places_.busy_s(from) > threshold_s_; ++i) {
      if (placement_.of(tasks[i].task) != from) continue;
      const bool smaller_is_enough =
          spares && i + 1 < tasks.size() &&
          places_.busy_s(from) - tasks[i + 1].load_s / machine_.speed_of(from) <= threshold_s_;
      if (!smaller_is_enough) offer(tasks[i], from);
    }
  }

  /// Moves the task to the place with the least message time among those that it would not raise
  /// above the threshold. The task stays if there is none.
  void offer(LoadedTask task, PlaceId from) {
    find_candidates(task, from);
    std::tuple best{std::numeric_limits<double>::infinity(), 0.0, from};
    for (const PlaceId to : candidates_) {
      find_changes(task, from, to);
      if (!fits(from, to)) continue;
      double sum_s = 0;
      for (const Change& change : changes_) sum_s += change.seconds;
      const double messages_s =
          sum_s - task.load_s / machine_.speed_of(to) + task.load_s / machine_.speed_of(from);
      best = std::min(best, std::tuple(messages_s, places_.busy_s(to), to));
    }
    if (std::get<PlaceId>(best) != from) move(task, from, std::get<PlaceId>(best));
  }

  /// The move may raise the busy times of communication partners' places above the threshold. These
  /// places join the queue of places that must give tasks away.
  void move(LoadedTask task, PlaceId from, PlaceId to) {
    find_changes(task, from, to);
    for (const auto& [place, seconds] : changes_) {
      const double before_s = places_.busy_s(place), after_s = before_s + seconds;
      places_.set(place, std::max(0.0, after_s));
      if (before_s <= threshold_s_ && after_s > threshold_s_) waiting_.push_back(place);
    }
    placement_.move(task.task, to);
  }

  /// Finds the places to which the task may move: those of the communication partners with which it
  /// has most traffic, and the place that finishes the task first.
  void find_candidates(LoadedTask task, PlaceId from) {
    changes_.clear();
    for (const auto links : {known_.received.of(task.task), known_.sent.of(task.task)})
      for (const Link& link : links) {
        const PlaceId p = placement_.of(link.task);
        if (p != from) add(p, link.count + link.bytes);
      }
    sum_by_place();
    const std::size_t kept = std::min(changes_.size(), kStrategiesTuning.max_partner_places);
    std::partial_sort(changes_.begin(), changes_.begin() + kept, changes_.end(),
                      [](const Change& a, const Change& b) {
                        return std::tuple(-a.seconds, a.place) < std::tuple(-b.seconds, b.place);
                      });
    candidates_.clear();
    for (std::size_t i = 0; i < kept; ++i) candidates_.push_back(changes_[i].place);
    const PlaceId first = places_.with(task.load_s);
    if (first != from) candidates_.push_back(first);
  }

  /// Computes how the move changes the busy time of each place that it affects.
  void find_changes(LoadedTask task, PlaceId from, PlaceId to) {
    changes_.clear();
    add(from, -task.load_s / machine_.speed_of(from));
    add(to, task.load_s / machine_.speed_of(to));
    for (const Link& link : known_.received.of(task.task)) {
      const PlaceId p = placement_.of(link.task);
      add(from, -seconds(link, p, from));
      add(to, seconds(link, p, to));
    }
    for (const Link& link : known_.sent.of(task.task)) {
      const PlaceId p = placement_.of(link.task);
      add(p, seconds(link, to, p) - seconds(link, from, p));
    }
    sum_by_place();
  }

  double seconds(const Link& link, PlaceId from, PlaceId to) const {
    return link.count * known_.unit.message_s * known_.factors.message(from, to) +
           link.bytes * known_.unit.byte_s * known_.factors.byte(from, to);
  }

  void add(PlaceId p, double seconds) {
    if (!is_summed_[p]) changes_.push_back({p, 0});
    is_summed_[p] = true;
    sum_at_[p] += seconds;
  }

  /// Adds up the collected changes such that each place has one entry.
  void sum_by_place() {
    std::sort(changes_.begin(), changes_.end(),
              [](const Change& a, const Change& b) { return a.place < b.place; });
    for (Change& change : changes_) {
      change.seconds = std::exchange(sum_at_[change.place], 0);
      is_summed_[change.place] = false;
    }
  }

  /// True if the move makes the place `from` less busy and keeps the place `to` within the
  /// threshold.
  bool fits(PlaceId from, PlaceId to) const {
    return std::all_of(changes_.begin(), changes_.end(), [&](const Change& change) {
      if (change.place == from) return change.seconds < 0;
      return change.place != to || places_.busy_s(to) + change.seconds <= threshold_s_;
    });
  }

  const Known& known_;
  const Machine& machine_;
  const double threshold_s_;
  Placement placement_;
  FirstToFinish places_;
  std::vector<PlaceId> waiting_;       // queue of places that must give tasks away
  std::vector<std::uint32_t> visits_;  // per place
  std::vector<Change> changes_;
  std::vector<PlaceId> candidates_;
  std::vector<double> sum_at_;  // per place: sum of its collected changes; 0 between calls
  std::vector<bool> is_summed_;
};

std::vector<double> busy_s(const Problem& problem) {
  return place_times(problem.machine, problem.workload, problem.costs, problem.current).busy_s();
}

std::vector<PlaceId> busiest_first(const std::vector<double>& busy_s) {
  std::vector<PlaceId> order;
  for (PlaceId p = 0; p < busy_s.size(); ++p) order.push_back(p);
  std::stable_sort(order.begin(), order.end(),
                   [&](PlaceId a, PlaceId b) { return busy_s[a] > busy_s[b]; });
  return order;
}

double average_busy_s(const Machine& machine, const std::vector<double>& busy_s) {
  double sum = 0;
  for (PlaceId p = 0; p < busy_s.size(); ++p) sum += busy_s[p] * machine.speed_of(p);
  return sum / machine.total_speed();
}

}  // namespace

Placement refine_comm(const Problem& problem, const Knobs& knobs) {
  const double tolerance = knobs["tolerance"];
  const Machine& machine = problem.machine;
  std::vector<double> busy = busy_s(problem);
  const double average = average_busy_s(machine, busy);
  const double now_s = *std::max_element(busy.begin(), busy.end());
  const double hoped_s =
      std::max(tolerance * average, makespan_bound_s(machine, problem.workload, problem.current));
  if (now_s <= hoped_s) return problem.current;
  std::vector<PlaceId> donors = busiest_first(busy);
  const Known known{problem,
                    FactorTable(machine),
                    unit_costs(machine, problem.costs),
                    received(problem.workload),
                    sent(problem.workload),
                    TasksByPlace(problem.workload, problem.current, machine.num_places()),
                    std::move(busy),
                    std::move(donors)};
  return lowest_threshold(hoped_s, now_s, kStrategiesTuning.refine_comm_precision * average,
                          problem.current,
                          [&](double threshold_s) { return Attempt(known, threshold_s).result(); });
}

}  // namespace poise
