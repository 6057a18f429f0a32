/// Greedy: heaviest task first, each to the place least busy so far.
///
/// Graham, "Bounds on multiprocessing timing anomalies", 1969; Charm++'s GreedyLB. Ignores messages
/// and the current placement, so nearly every task moves. O(n log n + n log p).
#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <vector>

#include "poise/strategies/strategy.h"

namespace poise {

namespace {

struct Candidate {
  double busy_s;
  PlaceId place;
  friend bool operator>(const Candidate& a, const Candidate& b) {
    return std::tie(a.busy_s, a.place) > std::tie(b.busy_s, b.place);
  }
};

}  // namespace

Placement greedy(const Problem& problem, const Knobs&) {
  const Workload& workload = problem.workload;
  const Machine& machine = problem.machine;
  Placement placement = problem.current;

  std::vector<double> busy_s = workload.background_s;
  busy_s.resize(machine.num_places(), 0);
  std::vector<TaskId> order;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    const Task& task = workload.tasks[t];
    if (task.movable)
      order.push_back(t);
    else
      busy_s[placement.of(t)] += task.load_s / machine.speed_of(placement.of(t));
  }
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    return workload.tasks[a].load_s > workload.tasks[b].load_s;
  });

  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> places;
  for (PlaceId p = 0; p < machine.num_places(); ++p) places.push({busy_s[p], p});
  for (const TaskId t : order) {
    Candidate least_busy = places.top();
    places.pop();
    placement.move(t, least_busy.place);
    least_busy.busy_s += workload.tasks[t].load_s / machine.speed_of(least_busy.place);
    places.push(least_busy);
  }
  return placement;
}

}  // namespace poise
