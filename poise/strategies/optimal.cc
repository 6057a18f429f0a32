// SPDX-License-Identifier: BSD-3-Clause
/// Optimal: the placement with the shortest predicted iteration time, by branch and bound. It is
/// for tiny problems.
///
/// Land and Doig, "An Automatic Method of Solving Discrete Programming Problems", Econometrica 28,
/// 1960. Places one task at a time, heaviest first, and tries each place for it, least busy first.
/// A branch is cut if a lower bound on its iteration time reaches the best time found so far. The
/// bound on the time of each subphase is the larger of two times: the busy time of its busiest
/// place, and the mean busy time of all places after all remaining work is placed. (Messages of the
/// tasks that are placed later can only increase both.) The first placement is the result of
/// `poise`, or the current one if that is as good. Ignores the cost of migrations. O(places^tasks)
/// in the worst case; refuses problems with more than `placements` placements.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/placement/busy_times.h"
#include "poise/placement/metrics.h"
#include "poise/placement/subphases.h"
#include "poise/strategies/poise.h"
#include "poise/strategies/strategy.h"

namespace poise {

namespace {

/// Maximum relative difference between two sums of the same terms in different orders. A placement
/// counts as better only if it gains more than this fraction.
constexpr double kRounding = 1e-12;

class BranchAndBound {
 public:
  BranchAndBound(const Problem& problem, Placement first)
      : problem_(problem),
        machine_(problem.machine),
        times_(problem.machine, problem.workload, problem.costs, problem.current),
        subphases_(problem.workload),
        count_(subphases_.count()),
        work_s_(std::size_t{machine_.num_places()} * count_, 0),
        comm_s_(machine_.num_places(), 0),
        place_of_(problem.workload.num_tasks(), kNowhere),
        best_(std::move(first)),
        best_s_(iteration_s(best_)) {
    const auto& tasks = problem.workload.tasks;
    const auto& background_s = problem.workload.background_s;
    for (PlaceId p = 0; p < background_s.size(); ++p)
      for (std::uint32_t s = 0; s < count_; ++s)
        work_s(p, s) += background_s[p] * subphases_.part_of_rest(s);
    for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
      if (tasks[t].movable)
        order_.push_back(t);
      else
        place(t, problem.current.of(t));
    std::stable_sort(order_.begin(), order_.end(),
                     [&](TaskId a, TaskId b) { return tasks[a].load_s > tasks[b].load_s; });
  }

  Placement result() && {
    if (best_s_ > makespan_bound_s(machine_, problem_.workload, problem_.current)) branch(0);
    return best_;
  }

 private:
  static constexpr PlaceId kNowhere = ~PlaceId{0};

  double iteration_s(const Placement& placement) const {
    return evaluate(machine_, problem_.workload, problem_.costs, problem_.current, placement)
        .iteration_s;
  }

  double& work_s(PlaceId p, std::uint32_t s) { return work_s_[std::size_t{p} * count_ + s]; }

  /// Places task t on place p: adds the load of t to the work of p, and the times of the messages
  /// between t and the tasks placed before t to the message times.
  void place(TaskId t, PlaceId p) {
    for (std::uint32_t s = 0; s < count_; ++s)
      work_s(p, s) += subphases_.load_s(t, s) / subphases_.speed_of(machine_, p, s);
    for (const Arc& arc : times_.arcs_of(t)) {
      const PlaceId q = place_of_[arc.task];
      if (q == kNowhere) continue;
      const PairCosts& costs = times_.costs();
      comm_s_[p] +=
          costs.receive_s(arc.in, arc.in_bytes, q, p) + costs.send_s(arc.out, arc.out_bytes, p, q);
      comm_s_[q] +=
          costs.receive_s(arc.out, arc.out_bytes, p, q) + costs.send_s(arc.in, arc.in_bytes, q, p);
    }
    place_of_[t] = p;
  }

  /// Lower bound on the iteration time of any placement that completes this partial one.
  double bound_s(std::size_t depth) {
    std::vector<double> bounds_s(count_);
    for (std::uint32_t s = 0; s < count_; ++s) {
      double work = 0, speeds = 0, busiest_s = 0;
      for (PlaceId p = 0; p < machine_.num_places(); ++p) {
        const double speed = subphases_.speed_of(machine_, p, s);
        const double busy_s = work_s(p, s) + comm_s_[p] * subphases_.part_of_rest(s);
        work += busy_s * speed;
        speeds += speed;
        busiest_s = std::max(busiest_s, busy_s);
      }
      for (std::size_t i = depth; i < order_.size(); ++i) work += subphases_.load_s(order_[i], s);
      bounds_s[s] = std::max(busiest_s, work / speeds);
    }
    return subphases_.time_of_all_s(bounds_s);
  }

  /// All places, the least busy one first.
  std::vector<PlaceId> least_busy_first() {
    std::vector<double> busy_s = comm_s_;
    for (PlaceId p = 0; p < machine_.num_places(); ++p)
      for (std::uint32_t s = 0; s < count_; ++s) busy_s[p] += work_s(p, s);
    std::vector<PlaceId> places(machine_.num_places());
    std::iota(places.begin(), places.end(), PlaceId{0});
    std::stable_sort(places.begin(), places.end(),
                     [&](PlaceId a, PlaceId b) { return busy_s[a] < busy_s[b]; });
    return places;
  }

  void branch(std::size_t depth) {
    const double bound_s = this->bound_s(depth);
    if (bound_s >= best_s_ * (1 - kRounding)) return;
    if (depth == order_.size()) {
      // When all tasks are placed, the bound is the iteration time, unless the machine has
      // latencies or shared resources, whose costs the bound leaves out.
      Placement placement(place_of_);
      const double seconds = times_.resources() ? iteration_s(placement) : bound_s;
      if (seconds >= best_s_) return;
      best_ = std::move(placement);
      best_s_ = seconds;
      return;
    }
    const TaskId t = order_[depth];
    const std::vector<double> work_before_s = work_s_, comm_before_s = comm_s_;
    for (const PlaceId p : least_busy_first()) {
      place(t, p);
      branch(depth + 1);
      place_of_[t] = kNowhere;
      work_s_ = work_before_s;
      comm_s_ = comm_before_s;
    }
  }

  const Problem& problem_;
  const Machine& machine_;
  const BusyTimes times_;  // used for its message arcs and costs
  std::vector<TaskId> order_;
  const Subphases subphases_;
  const std::uint32_t count_;   // number of subphases
  std::vector<double> work_s_;  // per place and subphase
  std::vector<double> comm_s_;  // per place
  std::vector<PlaceId> place_of_;
  Placement best_;
  double best_s_;
};

}  // namespace

Placement optimal(const Problem& problem, const Knobs& knobs) {
  const auto num_movable =
      std::count_if(problem.workload.tasks.begin(), problem.workload.tasks.end(),
                    [](const Task& task) { return task.movable; });
  const double placements =
      std::pow(problem.machine.num_places(), static_cast<double>(num_movable));
  if (placements > knobs["placements"])
    fail(
        "strategy optimal: {} movable tasks have {} possible placements on {} places, but the "
        "limit (knob placements) is {:.0e}; strategy anneal finds nearly optimal placements",
        num_movable, std::isfinite(placements) ? fmt::format("{:.0e}", placements) : "over 1e+308",
        problem.machine.num_places(), knobs["placements"]);
  return BranchAndBound(problem, poise_strategy(problem)).result();
}

}  // namespace poise
