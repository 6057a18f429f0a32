// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/even_subphases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "poise/placement/metrics.h"
#include "poise/placement/subphases.h"
#include "poise/workload/links.h"

namespace poise {

namespace {

/// A move of a task from one place to another. The task `partner`, if any, moves the other way.
struct Step {
  TaskId task;
  PlaceId from, to;
  std::optional<TaskId> partner = std::nullopt;
};

class EvenSubphases {
 public:
  EvenSubphases(const Problem& problem, const Subphases& subphases, const Tuning& tuning,
                Placement placement)
      : problem_(problem),
        machine_(problem.machine),
        subphases_(subphases),
        count_(subphases.count()),
        placement_(std::move(placement)),
        work_s_(subphase_work_s(machine_, problem.workload, subphases, placement_)),
        pair_s_{std::vector<double>(count_), std::vector<double>(count_)},
        all_s_(pair_s_),
        sent_(sent(problem.workload)),
        received_(received(problem.workload)),
        tasks_at_(machine_.num_places()),
        rest_s_(count_, 0),
        max_scans_(tuning.min_scans + static_cast<std::uint64_t>(tuning.scans_per_entry) *
                                          tuning.candidates * problem.workload.num_tasks()) {
    for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
      for (std::uint32_t s = 0; s < count_; ++s) load_s_.push_back(subphases.load_s(t, s));
      if (problem.workload.tasks[t].movable) tasks_at_[placement_.of(t)].push_back(t);
    }
    for (PlaceId p = 0; p < machine_.num_places(); ++p)
      for (std::uint32_t s = 0; s < count_; ++s)
        speed_.push_back(subphases.speed_of(machine_, p, s));
    average_s_ = averages_s();
    find_busiest();
    std::vector<double> busiest_s;
    for (const Busiest& busiest : busiest_) busiest_s.push_back(busiest[0].first);
    min_gain_s_ = tuning.min_gain * subphases.time_of_all_s(busiest_s);
  }

  Placement run() && {
    while (scans_ < max_scans_ && even_all()) {
    }
    return std::move(placement_);
  }

 private:
  using Busiest = std::array<std::pair<double, PlaceId>, 3>;  // busiest first

  double& work_s(PlaceId p, std::uint32_t s) { return work_s_[std::size_t{p} * count_ + s]; }
  double load_s(TaskId t, std::uint32_t s) const { return load_s_[std::size_t{t} * count_ + s]; }
  double speed(PlaceId p, std::uint32_t s) const { return speed_[std::size_t{p} * count_ + s]; }

  /// Per subphase: the time that every place would take if all were equally busy.
  std::vector<double> averages_s() const {
    std::vector<double> work(count_, 0), speeds(count_, 0);
    for (PlaceId p = 0; p < machine_.num_places(); ++p)
      for (std::uint32_t s = 0; s < count_; ++s) {
        work[s] += work_s_[std::size_t{p} * count_ + s] * speed(p, s);
        speeds[s] += speed(p, s);
      }
    for (std::uint32_t s = 0; s < count_; ++s) work[s] /= speeds[s];
    return work;
  }

  void find_busiest() {
    busiest_.assign(count_, Busiest{});
    for (PlaceId p = 0; p < machine_.num_places(); ++p)
      for (std::uint32_t s = 0; s < count_; ++s) {
        std::pair<double, PlaceId> next{work_s(p, s), p};
        for (auto& other : busiest_[s])
          if (next.first > other.first) std::swap(next, other);
      }
  }

  /// Moves or exchanges tasks between the busiest place of each subphase and every other place as
  /// long as a move or exchange has a gain (see consider()). Returns true if any task has moved.
  bool even_all() {
    std::vector<PlaceId> busy;
    for (const Busiest& busiest : busiest_)
      if (std::find(busy.begin(), busy.end(), busiest[0].second) == busy.end())
        busy.push_back(busiest[0].second);
    bool has_changed = false;
    for (const PlaceId p : busy)
      for (PlaceId q = 0; q < machine_.num_places(); ++q)
        while (p != q && scans_ < max_scans_ && even_pair(p, q)) has_changed = true;
    return has_changed;
  }

  /// Carries out the best step between two places: a move, or an exchange if no move has a gain.
  /// Returns false if no step has a gain.
  bool even_pair(PlaceId p, PlaceId q) {
    ++scans_;
    for (std::uint32_t s = 0; s < count_; ++s) {
      rest_s_[s] = 0;
      for (const auto& [busy_s, place] : busiest_[s])
        if (place != p && place != q) rest_s_[s] = std::max(rest_s_[s], busy_s);
    }
    best_.reset();
    best_gain_s_ = min_gain_s_;
    for (const TaskId t : tasks_at_[p]) consider({t, p, q});
    for (const TaskId t : tasks_at_[q]) consider({t, q, p});
    for (const TaskId t : tasks_at_[p]) {
      if (best_ || scans_ > max_scans_) break;
      for (const TaskId u : tasks_at_[q]) consider({t, p, q, u});
    }
    if (best_) carry_out(*best_);
    return best_.has_value();
  }

  /// Remembers the move or exchange `step` if its gain is the largest so far and the iteration does
  /// not become longer. The gain is the decrease of the time of the two places (pair_s_, added up
  /// over the subphases, or the longest if they overlap), minus the additional time of messages.
  /// The time of the busiest of all places (all_s_) is not used for the gain: it often stays the
  /// same, because a third place is just as busy.
  void consider(const Step& step) {
    ++scans_;
    const auto& [task, from, to, partner] = step;
    for (std::uint32_t s = 0; s < count_; ++s) {
      const double moved_s = load_s(task, s) - (partner ? load_s(*partner, s) : 0);
      const double before_s = std::max(work_s(from, s), work_s(to, s));
      const double after_s = std::max(work_s(from, s) - moved_s / speed(from, s),
                                      work_s(to, s) + moved_s / speed(to, s));
      pair_s_[kBefore][s] = std::max(before_s, average_s_[s]);
      pair_s_[kAfter][s] = std::max(after_s, average_s_[s]);
      all_s_[kBefore][s] = std::max(before_s, rest_s_[s]);
      all_s_[kAfter][s] = std::max(after_s, rest_s_[s]);
    }
    const auto saved_s = [&](const auto& seconds) {
      return subphases_.time_of_all_s(seconds[kBefore]) - subphases_.time_of_all_s(seconds[kAfter]);
    };
    double gain_s = saved_s(pair_s_);
    if (gain_s <= best_gain_s_ || saved_s(all_s_) < 0) return;
    gain_s -= added_messages_s(task, from, to);
    if (partner) gain_s -= added_messages_s(*partner, to, from);
    if (gain_s <= best_gain_s_) return;
    best_ = step;
    best_gain_s_ = gain_s;
  }

  /// Seconds by which the move changes the time for receiving messages, summed over all receivers.
  double added_messages_s(TaskId t, PlaceId from, PlaceId to) const {
    double added_s = 0;
    const auto add = [&](const Link& link, PlaceId other, bool is_sent) {
      const Message message{0, 0, link.count, link.bytes};
      const auto cost_s = [&](PlaceId own) {
        return is_sent ? message_s(machine_, problem_.costs, message, own, other)
                       : message_s(machine_, problem_.costs, message, other, own);
      };
      added_s += cost_s(to) - cost_s(from);
    };
    for (const Link& link : sent_.of(t)) add(link, placement_.of(link.task), true);
    for (const Link& link : received_.of(t)) add(link, placement_.of(link.task), false);
    return added_s;
  }

  void carry_out(const Step& step) {
    relocate(step.task, step.from, step.to);
    if (step.partner) relocate(*step.partner, step.to, step.from);
    find_busiest();
    scans_ += machine_.num_places();  // find_busiest() reads all places
  }

  void relocate(TaskId t, PlaceId from, PlaceId to) {
    std::erase(tasks_at_[from], t);
    tasks_at_[to].push_back(t);
    placement_.move(t, to);
    for (std::uint32_t s = 0; s < count_; ++s) {
      work_s(from, s) -= load_s(t, s) / speed(from, s);
      work_s(to, s) += load_s(t, s) / speed(to, s);
    }
  }

  const Problem& problem_;
  const Machine& machine_;
  const Subphases& subphases_;
  const std::uint32_t count_;
  Placement placement_;
  std::vector<double> work_s_;     // per place and subphase
  std::vector<double> load_s_;     // per task and subphase
  std::vector<double> speed_;      // per place and subphase
  std::vector<double> average_s_;  // per subphase
  // Busy times per subphase, before and after the step that consider() examines. pair_s_ holds the
  // times of the busier of the step's two places, but at least the average; all_s_ holds those of
  // the busiest of all places.
  enum { kBefore, kAfter };
  std::array<std::vector<double>, 2> pair_s_, all_s_;
  Links sent_, received_;
  std::vector<std::vector<TaskId>> tasks_at_;  // only movable tasks
  std::vector<Busiest> busiest_;               // per subphase
  // Per subphase: the longest busy time of all places except the two between which tasks move.
  std::vector<double> rest_s_;

  double min_gain_s_ = 0, best_gain_s_ = 0;
  std::optional<Step> best_;
  const std::uint64_t max_scans_;
  std::uint64_t scans_ = 0;
};

}  // namespace

Placement even_in_subphases(Placement placement, const Problem& problem, const Tuning& tuning) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  const Placement& current = problem.current;
  const CostModel& costs = problem.costs;
  if (!workload.memory.empty() || workload.capacity.is_limited()) return placement;
  const Subphases subphases(workload);
  const std::size_t num_loads = std::size_t{workload.num_tasks()} * subphases.count();
  if (subphases.count() == 1 || num_loads > tuning.max_table) return placement;
  Placement evened = EvenSubphases(problem, subphases, tuning, placement).run();
  const auto iteration_s = [&](const Placement& after) {
    return evaluate(machine, workload, costs, current, after).iteration_s;
  };
  const bool is_worth_it = iteration_s(evened) < (1 - tuning.tolerance) * iteration_s(placement);
  return is_worth_it ? evened : placement;
}

}  // namespace poise
