// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/overlap.h"

#include <algorithm>
#include <numeric>

#include "poise/base/check.h"
#include "poise/placement/message_times.h"
#include "poise/placement/metrics.h"

namespace poise {

namespace {

/// The seconds that a message takes at its sender, on its way, and at its receiver.
struct Transit {
  double sender_s = 0, way_s = 0, receiver_s = 0;
};

Transit transit_of(const Machine& machine, const Workload& workload, const CostModel& costs,
                   const Message& message, PlaceId from, PlaceId to) {
  if (costs.formula == CostFormula::nuco)
    return {0, 0, message_s(machine, costs, message, from, to)};
  const double count = message.count, bytes = message.bytes;
  if (from == to || (count == 0 && bytes == 0)) return {};
  const EndTimes ends = end_times(machine, costs, workload.loads_include, count, bytes, from, to);
  const double slowest_s =
      ResourceRates(machine, costs)
          .slowest_s(machine.domain_of(from), machine.domain_of(to), count, bytes);
  return {ends.sender_s, slowest_s + latency_s(machine, costs, from, to), ends.receiver_s};
}

}  // namespace

double OverlapClocks::run_step(const Machine& machine, const Workload& workload,
                               const CostModel& costs, const Placement& placement) {
  const TaskId num_tasks = workload.num_tasks();
  if (ready_s_.empty()) ready_s_.resize(num_tasks, 0);
  POISE_CHECK(ready_s_.size() == num_tasks);
  const std::vector<double> began_s = place_s_;
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
    const auto [sender_s, way_s, receiver_s] =
        transit_of(machine, workload, costs, message, from, to);
    const double arrival_s =
        receiver_s + std::max(end_s[message.from] + sender_s + (1 - workload.overlap) * way_s,
                              began_s[from] + way_s);
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
