// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/finish_schedule.h"

#include <span>
#include <utility>
#include <vector>

#include "poise/placement/arcs.h"
#include "poise/placement/first_to_finish.h"
#include "poise/placement/metrics.h"
#include "poise/workload/heaviest_first.h"

namespace poise {

namespace {

constexpr PlaceId kNowhere = ~PlaceId{0};

/// For each place with communication partners of a task: the total seconds that the messages
/// between the task and these partners take.
class SecondsByPlace {
 public:
  explicit SecondsByPlace(std::uint32_t num_places) : seconds_(num_places, 0) {}

  void add(PlaceId p, double seconds) {
    if (seconds_[p] == 0) places_.push_back(p);
    seconds_[p] += seconds;
    total_s_ += seconds;
  }
  void clear() {
    for (const PlaceId p : places_) seconds_[p] = 0;
    places_.clear();
    total_s_ = 0;
  }
  std::span<const PlaceId> places() const { return places_; }
  double elsewhere_s(PlaceId p) const { return total_s_ - seconds_[p]; }

 private:
  std::vector<double> seconds_;
  std::vector<PlaceId> places_;
  double total_s_ = 0;
};

class Scheduler {
 public:
  Scheduler(const Problem& problem, const Arcs& arcs, double weight)
      : machine_(problem.machine),
        message_s_(weight * unit_costs(problem.machine, problem.costs).message_s),
        byte_s_(weight * unit_costs(problem.machine, problem.costs).byte_s),
        arcs_(arcs),
        place_of_(problem.workload.num_tasks(), kNowhere),
        places_(machine_, fixed_work_s(machine_, problem.workload, problem.current)),
        partners_(machine_.num_places()) {
    for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
      if (!problem.workload.tasks[t].movable) settle(t, problem.current.of(t));
  }

  void place(TaskId t, double load_s) {
    const PlaceId p = cheapest(t, load_s);
    places_.add(p, load_s / machine_.speed_of(p));
    settle(t, p);
  }

  Placement placement() && { return Placement(std::move(place_of_)); }

 private:
  double received_s(const Arc& arc) const { return arc.in * message_s_ + arc.in_bytes * byte_s_; }
  double sent_s(const Arc& arc) const { return arc.out * message_s_ + arc.out_bytes * byte_s_; }

  void find_partners(TaskId t) {
    partners_.clear();
    for (const Arc& arc : arcs_.of(t)) {
      const PlaceId p = place_of_[arc.task];
      if (p == kNowhere) continue;
      partners_.add(p, received_s(arc));
      partners_.add(p, sent_s(arc));
    }
  }

  PlaceId cheapest(TaskId t, double load_s) {
    find_partners(t);
    const auto cost = [&](PlaceId p) {
      const double finish_s = places_.busy_s(p) + load_s / machine_.speed_of(p);
      return std::pair(finish_s + partners_.elsewhere_s(p), p);
    };
    auto best = cost(places_.with(load_s));
    for (const PlaceId p : partners_.places()) best = std::min(best, cost(p));
    return best.second;
  }

  /// Places task t on place p. Its messages with placed tasks on other places now count as busy
  /// time of the receivers' places.
  void settle(TaskId t, PlaceId p) {
    place_of_[t] = p;
    double receiving_s = 0;
    for (const Arc& arc : arcs_.of(t)) {
      const PlaceId other = place_of_[arc.task];
      if (other == kNowhere || other == p) continue;
      receiving_s += received_s(arc);
      if (const double sent = sent_s(arc); sent > 0) places_.add(other, sent);
    }
    if (receiving_s > 0) places_.add(p, receiving_s);
  }

  const Machine& machine_;
  const double message_s_, byte_s_;
  const Arcs& arcs_;
  std::vector<PlaceId> place_of_;  // the place of each task; kNowhere: not placed yet
  FirstToFinish places_;
  SecondsByPlace partners_;
};

}  // namespace

Placement schedule_by_finish(const Problem& problem, const Arcs& arcs, double message_weight) {
  Scheduler scheduler(problem, arcs, message_weight);
  for (const auto [task, load_s] : heaviest_first(problem.workload.tasks))
    scheduler.place(task, load_s);
  return std::move(scheduler).placement();
}

}  // namespace poise
