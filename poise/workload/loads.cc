// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/loads.h"

#include <cmath>
#include <limits>

#include "poise/base/enum_index.h"
#include "poise/base/error.h"

namespace poise {

namespace {

/// Scales the positions of the tasks, so that each coordinate is in [0, 1).
struct Frame {
  std::array<double, 3> low{}, high{};

  explicit Frame(const std::vector<std::array<double, 3>>& positions)
      : low(positions.front()), high(positions.front()) {
    for (const auto& position : positions)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], position[axis]);
        high[axis] = std::max(high[axis], position[axis]);
      }
  }

  bool is_flat(std::size_t axis) const { return !(low[axis] < high[axis]); }
  double part(std::size_t axis, double x) const {
    return std::min((x - low[axis]) / (high[axis] - low[axis]), 1 - 2 * CircleInterval::kRounding);
  }
};

bool is_inside(const Frame& frame, const CircleInterval& hot,
               const std::array<double, 3>& position) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!frame.is_flat(axis) && !hot.holds(frame.part(axis, position[axis]))) return false;
  return true;
}

}  // namespace

bool CircleInterval::holds(double x) const {
  const double ahead = x - start;
  return length >= 1 || ahead - std::floor(ahead + kRounding) < length - kRounding;
}

SkewDraw::SkewDraw(const Knobs& knobs)
    : skew_(static_cast<Skew>(knobs["skew"])), spread_(knobs["spread"]) {
  if ((skew_ == Skew::uniform || skew_ == Skew::quartic) && spread_ > 1)
    fail("spread={} is too large for skew={}: loads would be negative; use a spread from 0 to 1",
         spread_, kSkews[index_of(skew_)]);
  if (skew_ == Skew::pareto && spread_ > 0.95)
    fail(
        "spread={} is too large for skew=pareto: the distribution would have no mean; use a "
        "spread from 0 to 0.95",
        spread_);
}

double SkewDraw::operator()(Random& random) const {
  switch (skew_) {
    case Skew::equal: return 1;
    case Skew::uniform: return random.uniform(1 - spread_, 1 + spread_);
    case Skew::lognormal: return portable_exp(spread_ * random.normal() - spread_ * spread_ / 2);
    case Skew::pareto:
      return (1 - spread_) * portable_exp(-spread_ * portable_log(1 - random.uniform()));
    case Skew::quartic: {
      const double x = random.uniform();
      return 1 + spread_ * (5 * x * x * x * x - 1);
    }
  }
  return 1;
}

std::vector<Task> draw_tasks(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  const SkewDraw draw(knobs);
  Random random(seed);
  const auto bytes = static_cast<std::uint64_t>(knobs["task_bytes"]);
  const double load_s = knobs["load_s"];
  std::vector<Task> tasks(num_tasks);
  for (Task& task : tasks) task = {.load_s = load_s * draw(random), .bytes = bytes};
  return tasks;
}

void heat(Workload& workload, const Knobs& knobs, std::uint32_t phase) {
  const double factor = 1 + (knobs["hot"] - 1) * (1 + knobs["hot_growth"] * phase);
  if (factor == 1) return;
  if (factor < 0)
    fail("hot_growth makes loads negative in phase {}; use a value closer to 0", phase);
  const CircleInterval hot{knobs["hot_speed"] * phase, knobs["hot_extent"]};
  if (workload.positions.empty()) {
    for (TaskId t = 0; t < workload.num_tasks(); ++t)
      if (hot.holds(1.0 * t / workload.num_tasks())) workload.tasks[t].load_s *= factor;
    return;
  }
  const Frame frame(workload.positions);
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (is_inside(frame, hot, workload.positions[t])) workload.tasks[t].load_s *= factor;
}

void walk_on(std::vector<WideFactor>& walk, double drift, Random& random) {
  for (WideFactor& factor : walk) {
    int exponent = 0;
    factor.part = std::frexp(factor.part * portable_exp(drift * random.normal()), &exponent);
    factor.exponent += exponent;
  }
}

void apply_walk(const std::vector<WideFactor>& walk, std::vector<Task>& tasks) {
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  for (std::size_t t = 0; t < tasks.size(); ++t)
    if (tasks[t].load_s > 0) most = std::max(most, walk[t].exponent);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].load_s == 0) continue;
    constexpr std::int64_t kZero = -3000;  // any double times 2^-3000 is 0
    const std::int64_t exponent = std::max(walk[t].exponent - most, kZero);
    tasks[t].load_s = std::ldexp(tasks[t].load_s * walk[t].part, static_cast<int>(exponent));
  }
}

}  // namespace poise
