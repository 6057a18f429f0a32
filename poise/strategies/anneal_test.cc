// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

double iteration_s(const char* strategy, const Problem& problem) {
  const Placement placed = parse_strategy(strategy).rebalance(problem);
  return evaluate(problem.machine, problem.workload, problem.costs, problem.current, placed)
      .iteration_s;
}

TEST(Anneal, iterations_are_at_most_1_percent_longer_than_the_optimum_on_average) {
  const Machine machine = machine_from_text("numa:2 core:2 factors:2,1 message:0.01");
  Random random(7);
  constexpr int kProblems = 20;
  double sum = 0;
  for (int problem_number = 0; problem_number < kProblems; ++problem_number) {
    SCOPED_TRACE(problem_number);
    Workload workload;
    for (int t = 0; t < 9; ++t) workload.tasks.push_back({.load_s = 1 + random.uniform()});
    for (int m = 0; m < 12; ++m)
      workload.messages.push_back({static_cast<TaskId>(random.below(9)),
                                   static_cast<TaskId>(random.below(9)), 1 + random.below(20)});
    const Placement current = round_robin(9, 4);
    const Problem problem{machine, workload, current, machine.costs(), 1};
    const double optimum_s = iteration_s("optimal", problem);
    const double ratio = iteration_s("anneal", problem) / optimum_s;
    EXPECT_LE(ratio, 1.05);
    EXPECT_GE(ratio, 1 - 1e-9);
    sum += ratio;
  }
  EXPECT_LE(sum / kProblems, 1.01);
}

TEST(Anneal, more_sweeps_give_a_better_result_and_the_seed_changes_the_result) {
  const Machine machine = machine_from_text("node:2 numa:2 core:2 factors:10,1.5,1");
  const Workload workload =
      generate(parse_recipe("stencil2d:messages=10,skew=lognormal"), 160, 3).front();
  const Placement current = initial_placement("random", 160, 8, 1);
  const Problem problem{machine, workload, current, machine.costs(), 1};
  const double few_s = iteration_s("anneal:sweeps=30", problem),
               many_s = iteration_s("anneal:sweeps=1000", problem);
  EXPECT_LT(few_s, iteration_s("keep", problem));
  EXPECT_LT(many_s, 0.95 * few_s);
  EXPECT_NE(parse_strategy("anneal:seed=1").rebalance(problem),
            parse_strategy("anneal:seed=2").rebalance(problem));
}

/// A reference implementation that computes all busy times anew for each trial.
class NaiveAnnealing {
 public:
  explicit NaiveAnnealing(const Problem& problem)
      : problem_(problem), now_(problem.current), partners_(now_.num_tasks()) {
    for (TaskId t = 0; t < now_.num_tasks(); ++t)
      if (problem.workload.tasks[t].movable) movable_.push_back(t);
    for (const Message& m : problem.workload.messages) {
      if (m.from == m.to) continue;
      partners_[m.from].insert(m.to);
      partners_[m.to].insert(m.from);
    }
  }

  Placement run(std::uint64_t seed, int sweeps) {
    Random random(seed);
    Placement best = now_;
    double best_s = peak_s(now_), scale_s = best_s;
    const double cooling = portable_exp(portable_log(3e-5 / 0.3) / sweeps);
    double temperature = 0.3;
    for (int sweep = 0; sweep < sweeps; ++sweep, temperature *= cooling) {
      for (std::size_t i = 0; i < movable_.size(); ++i) {
        const Placement trial = drawn(random);
        if (trial == now_) continue;
        const double more = sum_of_powers(trial, scale_s) - sum_of_powers(now_, scale_s);
        if (more <= 0 || random.uniform() < portable_exp(-more / temperature)) now_ = trial;
      }
      scale_s = peak_s(now_);
      if (scale_s >= best_s) continue;
      best_s = scale_s;
      best = now_;
    }
    return best;
  }

 private:
  /// Moves or exchanges random tasks; the result may be equal to the placement before.
  Placement drawn(Random& random) const {
    Placement trial = now_;
    const TaskId t = movable_[random.below(movable_.size())];
    if (random.below(4) == 0) {
      const TaskId u = movable_[random.below(movable_.size())];
      trial.move(t, now_.of(u));
      trial.move(u, now_.of(t));
      return trial;
    }
    const std::vector<TaskId> partners(partners_[t].begin(), partners_[t].end());
    trial.move(t, !partners.empty() && random.below(2) == 0
                      ? now_.of(partners[random.below(partners.size())])
                      : random.below(problem_.machine.num_places()));
    return trial;
  }

  std::vector<double> busy_s(const Placement& placement) const {
    return place_times(problem_.machine, problem_.workload, problem_.costs, placement).busy_s();
  }
  double peak_s(const Placement& placement) const { return std::ranges::max(busy_s(placement)); }
  double sum_of_powers(const Placement& placement, double scale_s) const {
    double sum = 0;
    for (const double seconds : busy_s(placement)) sum += std::pow(seconds / scale_s, 12);
    return sum;
  }

  const Problem& problem_;
  Placement now_;
  std::vector<std::set<TaskId>> partners_;
  std::vector<TaskId> movable_;
};

TEST(Anneal, gives_the_same_placement_as_a_reference_that_computes_all_busy_times_anew) {
  int num_moved = 0;
  // Costs are sums of powers of two, so that all busy times are exact.
  for (const char* text : {"core:2", "numa:2 core:2 factors:3,1 message:0.03125 byte:0.0009765625",
                           "core:3 speeds:1,0.5,0.25 message:0.0625"})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      const Machine machine = machine_from_text(text);
      Workload workload;
      Placement current(10);
      for (TaskId t = 0; t < 10; ++t) {
        workload.tasks.push_back(
            {.load_s = 1 + 0x1p-20 * random.below(1 << 20), .movable = random.below(6) > 0});
        current.move(t, random.below(machine.num_places()));
        for (std::uint64_t m = random.below(3); m > 0; --m)
          workload.messages.push_back(
              {t, static_cast<TaskId>(random.below(10)), 1 + random.below(20), random.below(100)});
      }
      const Problem problem{machine, workload, current, machine.costs(), seed};
      const Placement expected = NaiveAnnealing(problem).run(mix(seed) + 7, 20);
      EXPECT_EQ(parse_strategy("anneal:sweeps=20,seed=7").rebalance(problem), expected);
      num_moved += expected == current ? 0 : 1;
    }
  EXPECT_GE(num_moved, 25);
}

}  // namespace
}  // namespace poise
