// SPDX-License-Identifier: BSD-3-Clause
/// Anneal: simulated annealing on the predicted iteration time. It is slow; it shows how short
/// iterations can be.
///
/// Kirkpatrick, Gelatt and Vecchi, "Optimization by Simulated Annealing", Science 220, 1983. Three
/// of four trials move a random task: half of them to the place of a communication partner, the
/// other half to a random place. The fourth trial exchanges two random tasks. A trial is accepted
/// or rejected by the change of the sum over places of (busy / peak)^12, at a temperature that
/// falls geometrically. After every sweep, the peak (the longest busy time) is computed anew. The
/// result is the placement with the lowest of these peaks, or the current placement if none of them
/// is lower than its peak. Ignores the cost of migrations: nearly every task moves. O(sweeps (n
/// degree + p)) for n tasks with `degree` messages each and p places.
#include <algorithm>

#include "poise/base/random.h"
#include "poise/placement/busy_times.h"
#include "poise/strategies/strategy.h"
#include "poise/strategies/tuning.h"

namespace poise {

namespace {

/// Temperatures are in units of the sum over places of (busy / peak)^12, to which the busiest place
/// adds 1. At the first temperature, a trial that raises the sum by 1/3 is accepted with a
/// probability of about 1/3. At the last temperature, a trial that raises it by 1e-4 is accepted
/// with a probability of about 1/30.
constexpr double kFirstTemperature = kStrategiesTuning.first_temperature;
constexpr double kLastTemperature = kStrategiesTuning.last_temperature;

double power_12(double x) {
  const double square = x * x, fourth = square * square;
  return fourth * fourth * fourth;
}

class Annealing {
 public:
  Annealing(const Problem& problem, std::uint64_t seed)
      : machine_(problem.machine),
        times_(problem.machine, problem.workload, problem.costs, problem.current),
        random_(seed),
        best_(problem.current) {
    for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
      if (problem.workload.tasks[t].movable) movable_.push_back(t);
    best_peak_s_ = scale_s_ = times_.peak_s();
  }

  Placement result(double sweeps) && {
    if (movable_.empty() || scale_s_ == 0 || machine_.num_places() < 2) return best_;
    const double cooling =
        portable_exp(portable_log(kLastTemperature / kFirstTemperature) / sweeps);
    double temperature = kFirstTemperature;
    for (double sweep = 0; sweep < sweeps; ++sweep, temperature *= cooling) {
      for (std::size_t i = 0; i < movable_.size(); ++i) step(temperature);
      remember();
    }
    return best_;
  }

 private:
  void remember() {
    times_.refresh();
    scale_s_ = times_.peak_s();
    if (scale_s_ >= best_peak_s_) return;
    best_peak_s_ = scale_s_;
    best_ = Placement(times_.places());
  }

  TaskId drawn_task() { return movable_[random_.below(movable_.size())]; }

  void step(double temperature) {
    const TaskId t = drawn_task();
    if (random_.below(4) == 0) return exchange(t, drawn_task(), temperature);
    const auto arcs = times_.arcs_of(t);
    const PlaceId to = !arcs.empty() && random_.below(2) == 0
                           ? times_.place_of(arcs[random_.below(arcs.size())].task)
                           : random_.below(machine_.num_places());
    if (to == times_.place_of(t)) return;
    times_.try_move(t, to);
    if (accepts(temperature)) times_.move(t, to);
  }

  void exchange(TaskId t, TaskId u, double temperature) {
    const PlaceId place_t = times_.place_of(t), place_u = times_.place_of(u);
    if (place_t == place_u) return;
    times_.try_swap(t, u);
    if (!accepts(temperature)) return;
    times_.move(t, place_u);
    times_.move(u, place_t);
  }

  bool accepts(double temperature) {
    double change = 0;
    for (const SpotId spot : times_.touched()) {
      const double before_s = times_.busy_s(spot);
      change +=
          power_12((before_s + times_.change_s(spot)) / scale_s_) - power_12(before_s / scale_s_);
    }
    return change <= 0 || random_.uniform() < portable_exp(-change / temperature);
  }

  const Machine& machine_;
  BusyTimes times_;
  Random random_;
  std::vector<TaskId> movable_;
  double scale_s_ = 0;  // largest busy time at the start of the current sweep
  Placement best_;
  double best_peak_s_ = 0;
};

}  // namespace

Placement anneal(const Problem& problem, const Knobs& knobs) {
  const std::uint64_t seed = mix(problem.seed) + static_cast<std::uint64_t>(knobs["seed"]);
  return Annealing(problem, seed).result(knobs["sweeps"]);
}

}  // namespace poise
