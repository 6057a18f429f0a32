// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/threads.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "poise/base/error.h"
#include "poise/online/juggle.h"
#include "poise/placement/metrics.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

/// A task is done if its remaining work is below this fraction of its load, because the rest is a
/// rounding error.
constexpr double kRounding = 1e-12;

/// The threads that run on a machine in one phase. Progress is in seconds of work at speed 1.
class Threads {
 public:
  Threads(const Machine& machine, const Workload& workload, const Placement& placement)
      : machine_(machine),
        place_of_(placement.places().begin(), placement.places().end()),
        progress_s_(workload.num_tasks(), 0),
        on_(machine.num_places()),
        gained_s_(machine.num_places(), 0),
        idle_s_(machine.num_places(), 0),
        done_s_(machine.num_places(), 0) {
    for (const Task& task : workload.tasks) {
      rest_s_.push_back(task.load_s);
      rounding_s_.push_back(task.load_s * kRounding);
      num_running_ += task.load_s > 0;
    }
    for (const Place& place : machine.places()) domain_of_.push_back(place.domain);
    gather();
  }

  bool is_done() const { return num_running_ == 0; }

  void run_until(double end_s) {
    for (PlaceId p = 0; p < on_.size(); ++p) run_place(p, end_s);
    now_s_ = end_s;
  }

  /// Runs the balancing point at the end of a period of period_s seconds. Returns the number of
  /// swaps.
  std::uint64_t juggle(double period_s) {
    std::vector<double> speed(on_.size());
    for (PlaceId p = 0; p < on_.size(); ++p)
      speed[p] = measured_speed(gained_s_[p], on_[p].size(), period_s, idle_s_[p]);
    const auto swaps = juggle_swaps({progress_s_, place_of_, speed, domain_of_},
                                    period_s * simulate_tuning::kMargin);
    for (const Swap& swap : swaps) std::swap(place_of_[swap.behind], place_of_[swap.ahead]);
    gather();
    std::fill(gained_s_.begin(), gained_s_.end(), 0);
    std::fill(idle_s_.begin(), idle_s_.end(), 0);
    return swaps.size();
  }

  std::vector<double> take_done_s() { return std::move(done_s_); }

 private:
  void gather() {
    for (auto& threads : on_) threads.clear();
    for (ThreadId t = 0; t < place_of_.size(); ++t) on_[place_of_[t]].push_back(t);
  }

  /// Shares the place among its running threads until end_s, in intervals that each end when a
  /// thread ends.
  void run_place(PlaceId p, double end_s) {
    const double speed = machine_.speed_of(p);
    double left_s = end_s - now_s_, used_s = 0;
    while (left_s > 0) {
      double least_s = std::numeric_limits<double>::infinity();
      double sharers = 0;
      for (const ThreadId t : on_[p]) {
        if (rest_s_[t] <= 0) continue;
        least_s = std::min(least_s, rest_s_[t]);
        ++sharers;
      }
      if (sharers == 0) break;
      const double wanted_s = least_s * sharers / speed;
      const double work_s = wanted_s <= left_s ? least_s : left_s * speed / sharers;
      used_s += std::min(wanted_s, left_s);
      left_s = wanted_s <= left_s ? left_s - wanted_s : 0;
      for (const ThreadId t : on_[p])
        if (rest_s_[t] > 0) work(p, t, work_s);
      done_s_[p] = now_s_ + used_s;  // not end_s - left_s, which is imprecise if end_s is large
    }
    idle_s_[p] += left_s;
  }

  void work(PlaceId p, ThreadId t, double work_s) {
    progress_s_[t] += work_s;
    gained_s_[p] += work_s;
    rest_s_[t] -= work_s;
    if (rest_s_[t] > rounding_s_[t]) return;
    rest_s_[t] = 0;
    --num_running_;
  }

  const Machine& machine_;
  std::vector<PlaceId> place_of_;                         // per thread
  std::vector<double> progress_s_, rest_s_, rounding_s_;  // per thread
  // The threads of each place, including those that have ended.
  std::vector<std::vector<ThreadId>> on_;
  // For each place: progress and idle time since the last balancing point.
  std::vector<double> gained_s_, idle_s_;
  std::vector<double> done_s_;       // per place
  std::vector<DomainId> domain_of_;  // per place
  std::uint64_t num_running_ = 0;
  double now_s_ = 0;
};

}  // namespace

ThreadsRun run_threads(const Machine& machine, const Workload& workload, const Placement& placement,
                       double period_s) {
  if (!(period_s > 0)) fail("the balancing period is {} s; it must be above 0", period_s);
  const std::vector<double> alone_s = work_s(machine, workload, placement);
  const double busiest_s = *std::max_element(alone_s.begin(), alone_s.end());
  if (busiest_s > simulate_tuning::kMaxPoints * period_s)
    fail(
        "a balancing period of {} s is too short for an iteration of {} s, which would have {:.3g} "
        "balancing points; use a period of at least {} s",
        period_s, busiest_s, busiest_s / period_s, busiest_s / simulate_tuning::kMaxPoints);
  Threads threads(machine, workload, placement);
  ThreadsRun run;
  for (std::uint64_t point = 1; !threads.is_done(); ++point) {
    threads.run_until(point * period_s);
    if (!threads.is_done()) run.swaps += threads.juggle(period_s);
  }
  run.done_s = threads.take_done_s();
  for (PlaceId p = 0; p < workload.background_s.size(); ++p)
    run.done_s[p] += workload.background_s[p];
  return run;
}

}  // namespace poise
