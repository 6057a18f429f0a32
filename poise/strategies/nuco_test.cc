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

/// Algorithm 1 of the paper with its cost, every core looked at for every task.
class NaiveNuco {
 public:
  NaiveNuco(const Problem& problem, double alpha, bool same_core_is_local)
      : problem_(problem),
        alpha_(alpha),
        same_core_is_local_(same_core_is_local),
        placement_(problem.current),
        busy_s_(problem.workload.background_s) {
    busy_s_.resize(problem.machine.num_places(), 0);
    for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
      busy_s_[placement_.of(t)] += share_s(t, placement_.of(t));
  }

  Placement run() {
    std::vector<TaskId> order;
    for (TaskId t = 0; t < problem_.workload.num_tasks(); ++t)
      if (problem_.workload.tasks[t].movable) order.push_back(t);
    std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
      return problem_.workload.tasks[a].load_s > problem_.workload.tasks[b].load_s;
    });
    for (const TaskId t : order) {
      const PlaceId from = placement_.of(t);
      const double busy_with_s = busy_s_[from];
      busy_s_[from] = std::max(busy_with_s - share_s(t, from), 0.0);
      const PlaceId to = cheapest(t);
      if (to == from)
        busy_s_[from] = busy_with_s;
      else
        busy_s_[to] += share_s(t, to);
      placement_.move(t, to);
    }
    return placement_;
  }

 private:
  double share_s(TaskId t, PlaceId c) const {
    return problem_.workload.tasks[t].load_s / problem_.machine.speed_of(c);
  }

  /// r_comm times NUCO_FACTOR less l_comm, the factors in ascending order.
  double communication(PlaceId c, TaskId t) const {
    const Machine& machine = problem_.machine;
    std::uint64_t local = 0;
    std::map<double, std::uint64_t> remote;
    for (const Message& message : problem_.workload.messages) {
      if (message.to != t || message.from == t) continue;
      const PlaceId sender = placement_.of(message.from);
      if (machine.domain_of(sender) != machine.domain_of(c))
        remote[machine.latency_factor(machine.domain_of(sender), machine.domain_of(c))] +=
            message.count;
      else if (sender != c || same_core_is_local_)
        local += message.count;
    }
    double sum = -static_cast<double>(local);
    for (const auto& [factor, count] : remote) sum += factor * static_cast<double>(count);
    return sum;
  }

  PlaceId cheapest(TaskId t) const {
    const Machine& machine = problem_.machine;
    std::tuple<double, bool, double, PlaceId> best;
    for (PlaceId c = 0; c < machine.num_places(); ++c) {
      const double load_s = machine.has_equal_speeds() ? 0 : share_s(t, c);
      const double cost = busy_s_[c] + load_s + alpha_ * communication(c, t);
      const std::tuple candidate{cost, c != placement_.of(t), busy_s_[c], c};
      if (c == 0 || candidate < best) best = candidate;
    }
    return std::get<PlaceId>(best);
  }

  const Problem& problem_;
  double alpha_;
  bool same_core_is_local_;
  Placement placement_;
  std::vector<double> busy_s_;
};

TEST(Nuco, places_every_task_as_the_naive_algorithm_does) {
  static constexpr std::array kAlphas{1e-5, 0.0, 0.01, 0.1, 1.0};
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const OwnedProblem problem = random_problem(random);
    const double alpha = kAlphas[random.below(kAlphas.size())];
    const bool local = random.below(2) == 0;
    const Choice nuco = parse_strategy(fmt::format("nuco:alpha={},local={}", alpha, local ? 1 : 0));
    ASSERT_EQ(nuco.rebalance(problem.view()), NaiveNuco(problem.view(), alpha, local).run())
        << problem.machine.name() << " " << nuco.text();
  }
}

}  // namespace
}  // namespace poise
