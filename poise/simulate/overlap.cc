// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/overlap.h"

#include <algorithm>
#include <numeric>

#include "poise/base/check.h"
#include "poise/placement/metrics.h"

namespace poise {

double OverlapClocks::run_step(const Machine& machine, const Workload& workload,
                               const CostModel& costs, const Placement& placement) {
  const TaskId num_tasks = workload.num_tasks();
  if (ready_s_.empty()) ready_s_.resize(num_tasks, 0);
  POISE_CHECK(ready_s_.size() == num_tasks);
  for (PlaceId p = 0; p < workload.background_s.size(); ++p)
    place_s_[p] += workload.background_s[p];

  std::vector<TaskId> order(num_tasks);
  std::iota(order.begin(), order.end(), TaskId{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](TaskId a, TaskId b) { return ready_s_[a] < ready_s_[b]; });
  std::vector<double> end_s(num_tasks);
  for (const TaskId t : order) {
    const PlaceId p = placement.of(t);
    const double start_s = std::max(place_s_[p], ready_s_[t]);
    end_s[t] = place_s_[p] = start_s + workload.tasks[t].load_s / machine.speed_of(p);
  }

  std::fill(ready_s_.begin(), ready_s_.end(), 0);
  for (const Message& message : workload.messages) {
    const PlaceId from = placement.of(message.from), to = placement.of(message.to);
    const double arrival_s = end_s[message.from] + message_s(machine, costs, message, from, to);
    ready_s_[message.to] = std::max(ready_s_[message.to], arrival_s);
  }
  return now_s();
}

void OverlapClocks::synchronise(double seconds) {
  std::fill(place_s_.begin(), place_s_.end(), now_s() + seconds);
}

double OverlapClocks::now_s() const {
  return place_s_.empty() ? 0 : *std::max_element(place_s_.begin(), place_s_.end());
}

}  // namespace poise
