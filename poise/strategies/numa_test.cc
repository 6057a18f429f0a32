#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <tuple>

#include "poise/strategies/random_problem.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

/// The slides' pseudocode and W(k, i), every processor looked at for every chare.
class NaiveNuma {
 public:
  NaiveNuma(const Problem& problem, double alpha, bool by_core)
      : problem_(problem),
        alpha_(alpha),
        by_core_(by_core),
        placement_(problem.current),
        load_(problem.workload.background_s) {
    load_.resize(problem.machine.num_places(), 0);
    for (TaskId k = 0; k < problem.workload.num_tasks(); ++k)
      load_[placement_.of(k)] += share_s(k, placement_.of(k));
  }

  Placement run() {
    std::vector<TaskId> chares;
    for (TaskId k = 0; k < problem_.workload.num_tasks(); ++k)
      if (problem_.workload.tasks[k].movable) chares.push_back(k);
    std::stable_sort(chares.begin(), chares.end(), [&](TaskId a, TaskId b) {
      return problem_.workload.tasks[a].load_s > problem_.workload.tasks[b].load_s;
    });
    for (const TaskId k : chares) {
      const PlaceId from = placement_.of(k);
      const double load_with = load_[from];
      load_[from] = std::max(load_with - share_s(k, from), 0.0);
      const PlaceId to = least(k);
      load_[to] = to == from ? load_with : load_[to] + share_s(k, to);
      placement_.move(k, to);
    }
    return placement_;
  }

 private:
  double share_s(TaskId k, PlaceId i) const {
    return problem_.workload.tasks[k].load_s / problem_.machine.speed_of(i);
  }

  double weight(PlaceId j, PlaceId i) const {
    const Machine& machine = problem_.machine;
    if (j == i) return -1;
    if (machine.domain_of(j) == machine.domain_of(i)) return by_core_ ? 1 : -1;
    return machine.latency_factor(machine.domain_of(j), machine.domain_of(i));
  }

  double communication(TaskId k, PlaceId i) const {
    std::map<double, std::uint64_t> messages;
    for (const Message& message : problem_.workload.messages) {
      if (message.from == message.to) continue;
      if (message.to == k) messages[weight(placement_.of(message.from), i)] += message.count;
      if (message.from == k) messages[weight(placement_.of(message.to), i)] += message.count;
    }
    double sum = 0;
    for (const auto& [factor, count] : messages) sum += factor * static_cast<double>(count);
    return sum;
  }

  PlaceId least(TaskId k) const {
    const Machine& machine = problem_.machine;
    std::tuple<double, bool, double, PlaceId> best;
    for (PlaceId i = 0; i < machine.num_places(); ++i) {
      const double load_s = machine.has_equal_speeds() ? 0 : share_s(k, i);
      const double w = load_[i] + load_s + alpha_ * communication(k, i);
      const std::tuple candidate{w, i != placement_.of(k), load_[i], i};
      if (i == 0 || candidate < best) best = candidate;
    }
    return std::get<PlaceId>(best);
  }

  const Problem& problem_;
  double alpha_;
  bool by_core_;
  Placement placement_;
  std::vector<double> load_;
};

TEST(Numa, places_every_task_as_the_naive_algorithm_does) {
  static constexpr std::array kAlphas{1e-5, 0.0, 0.01, 0.1, 1.0};
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const OwnedProblem problem = random_problem(random);
    const double alpha = kAlphas[random.below(kAlphas.size())];
    const bool by_core = random.below(2) == 0;
    const Choice numa =
        parse_strategy(fmt::format("numa:alpha={},level={}", alpha, by_core ? "core" : "node"));
    ASSERT_EQ(numa.rebalance(problem.view()), NaiveNuma(problem.view(), alpha, by_core).run())
        << problem.machine.name() << " " << numa.text();
  }
}

}  // namespace
}  // namespace poise
