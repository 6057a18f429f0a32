// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/replayed_run.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "poise/base/check.h"
#include "poise/diagnosis/tuning.h"
#include "poise/simulate/iteration.h"
#include "poise/simulate/threads.h"

namespace poise {

namespace {

namespace tuning = diagnosis_tuning;

/// Gives each rank a place of its own on its node. Empty if a node has more ranks than cores.
std::vector<PlaceId> own_places_of(const Machine& machine, const Placement& last) {
  // For each node: how many of the places in `free` have been given to a rank.
  std::vector<std::uint32_t> num_used(machine.num_nodes());
  std::vector<bool> is_taken(machine.num_places());
  std::vector<std::optional<PlaceId>> own(last.num_tasks());
  for (TaskId r = 0; r < last.num_tasks(); ++r) {
    if (is_taken[last.of(r)]) continue;
    own[r] = last.of(r);
    is_taken[last.of(r)] = true;
  }
  std::vector<std::vector<PlaceId>> free(machine.num_nodes());
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    if (!is_taken[p]) free[machine.node_of_place(p)].push_back(p);
  std::vector<PlaceId> places;
  for (TaskId r = 0; r < last.num_tasks(); ++r) {
    const NodeId node = machine.node_of_place(last.of(r));
    if (!own[r] && num_used[node] == free[node].size()) return {};
    places.push_back(own[r] ? *own[r] : free[node][num_used[node]++]);
  }
  return places;
}

void multiply(TransportCosts& costs, double factor) {
  costs.send_s *= factor;
  costs.receive_s *= factor;
  costs.copy_s_per_byte *= factor;
  costs.latency_s *= factor;
}

std::vector<std::size_t> simulated_phases(const Trace& trace) {
  std::size_t most_messages = 1;
  for (const Phase& phase : trace.phases)
    most_messages = std::max(most_messages, phase.workload.messages.size());
  const std::size_t count =
      std::min(trace.phases.size(), std::clamp(tuning::kSimulatedMessages / most_messages,
                                               tuning::kMinSimulated, tuning::kMaxSimulated));
  std::vector<std::size_t> phases;
  for (std::size_t k = 0; k < count; ++k)
    phases.push_back((2 * k + 1) * trace.phases.size() / (2 * count));
  return phases;
}

/// Solves rising(x) = wanted for x >= 0, with wanted > 0. The function `rising` is 0 at 0, may be
/// constant at first, and then rises nearly linearly. First, x grows until rising(x) is at least
/// `wanted`; then it is known in which interval the solution lies. This interval is divided
/// repeatedly, at the point where the secant through its last two upper ends reaches `wanted`. If
/// there has been only one upper end, or if that point is outside the interval, the interval is
/// divided in the middle.
double argument_of(const std::function<double(double)>& rising, double wanted) {
  struct Point {
    double x, error;
  };
  const auto at = [&](double x) { return Point{x, rising(x) - wanted}; };
  const auto is_near = [&](const Point& point) {
    return std::abs(point.error) <= tuning::kFactorPrecision * wanted;
  };
  Point low{0, -wanted}, high = at(1);
  int round = 1;
  for (; high.error < 0 && !is_near(high) && round < tuning::kFactorRounds; ++round) {
    const double value = high.error + wanted;
    const double step = value > 0 ? wanted / value : tuning::kMaxFactorStep;
    low = high;
    high = at(high.x * std::clamp(step, 2.0, tuning::kMaxFactorStep));
  }
  if (high.error < 0 || is_near(high)) return high.x;
  std::optional<Point> above;  // the previous upper end of the interval; empty in the first round
  for (; round < tuning::kFactorRounds; ++round) {
    double x = (low.x + high.x) / 2;
    if (above && above->error > high.error) {
      const double zero = high.x - high.error * (above->x - high.x) / (above->error - high.error);
      if (zero > low.x && zero < high.x) x = zero;
    }
    const Point next = at(x);
    if (is_near(next)) return x;
    if (next.error > 0) above = high;
    (next.error > 0 ? high : low) = next;
  }
  return (low.x + high.x) / 2;
}

}  // namespace

ReplayedRun::ReplayedRun(const MeasuredRun& run, const Trace& trace)
    : run_(run),
      trace_(trace),
      own_place_(own_places_of(*trace.machine, trace.phases.back().placement)),
      phases_(simulated_phases(trace)) {
  const auto node_of = [&](TaskId rank) { return trace.machine->node_of_place(own_place_[rank]); };
  for (TaskId r = 0; r < own_place_.size(); ++r) has_nodes_ |= node_of(r) != node_of(0);
  if (!is_possible()) return;
  for (const std::size_t phase : phases_)
    for (const Message& message : trace.phases[phase].workload.messages)
      has_slow_messages_ |= message.from != message.to &&
                            (!has_nodes_ || node_of(message.from) != node_of(message.to));
}

double ReplayedRun::iterations_of(std::size_t phase) const {
  std::vector<std::uint64_t> counts;
  for (const Message& message : trace_.phases[phase].workload.messages)
    if (message.count > 0) counts.push_back(message.count);
  if (counts.empty()) return 1;
  const auto middle = counts.begin() + counts.size() / 2;
  std::nth_element(counts.begin(), middle, counts.end());
  return *middle;
}

CostModel ReplayedRun::costs_times(double factor) const {
  CostModel costs = trace_.machine->costs();
  multiply(costs.network, factor);
  costs.card_s_per_message *= factor;
  const auto divide = [&](double& bytes_per_s) {
    bytes_per_s = factor > 0 ? bytes_per_s / factor : 0;  // 0: unlimited
  };
  divide(costs.card_bytes_per_s);
  divide(costs.shared_network_bytes_per_s);
  for (double& uplink : costs.uplink_bytes_per_s) divide(uplink);
  if (has_nodes_) return costs;
  multiply(costs.inside, factor);
  divide(costs.bus_bytes_per_s);
  return costs;
}

double ReplayedRun::phase_s(std::size_t phase, std::span<const double> loads_s,
                            const Placement& placement, double factor) const {
  const Workload& workload = trace_.phases[phase].workload;
  const double iterations = iterations_of(phase);
  const EngineOptions options{.precision = tuning::kReplayPrecision};
  const Traffic traffic = message_traffic(*trace_.machine, workload, costs_times(factor), placement,
                                          options.piece_bytes, 1 / iterations, options.routing);
  std::vector<double> work_s(trace_.machine->num_places());
  for (TaskId r = 0; r < loads_s.size(); ++r) work_s[placement.of(r)] += loads_s[r] / iterations;
  return iterations * simulate_iteration(traffic, work_s, workload.overlap, options).end_s;
}

std::vector<double> ReplayedRun::times_s(const RankLoads& loads_s, const Placement& placement,
                                         double factor) const {
  std::vector<double> times_s;
  for (const std::size_t phase : phases_)
    times_s.push_back(phase_s(phase, loads_s[phase], placement, factor));
  return times_s;
}

std::vector<double> ReplayedRun::juggled_times_s() const {
  std::vector<double> times_s;
  for (const std::size_t phase : phases_) {
    const double iterations = iterations_of(phase);
    Workload iteration;
    double all_s = 0;
    for (const RankTimes& rank : run_.phases[phase].ranks) {
      iteration.tasks.push_back({.load_s = rank.load_s / iterations});
      all_s += rank.load_s / iterations;
    }
    const double period_s = std::max(tuning::kJugglePeriod_s, all_s / tuning::kMaxJugglePoints);
    const std::vector<double> done_s =
        run_threads(*trace_.machine, iteration, trace_.phases[phase].placement, period_s).done_s;
    times_s.push_back(iterations * *std::max_element(done_s.begin(), done_s.end()));
  }
  return times_s;
}

double ReplayedRun::factor_for(const RankLoads& loads_s, double exposed_s) const {
  const Placement placement = own_places();
  const auto total_s = [&](double factor) {
    const std::vector<double> times = times_s(loads_s, placement, factor);
    return std::accumulate(times.begin(), times.end(), 0.0);
  };
  double work_s = 0;
  for (const std::size_t phase : phases_)
    work_s += *std::max_element(loads_s[phase].begin(), loads_s[phase].end());
  if (exposed_s <= 0) return 0;
  if (!has_slow_messages_) return 1;
  const double free_s = total_s(0), wanted_s = work_s + exposed_s - free_s;
  if (wanted_s <= 0) return 0;
  return argument_of([&](double factor) { return total_s(factor) - free_s; }, wanted_s);
}

Seconds sum_over_run(std::span<const double> values, std::span<const std::size_t> simulated,
                     std::span<const double> estimates) {
  POISE_CHECK(values.size() == simulated.size());
  double value = 0, estimate = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    value += values[k];
    estimate += estimates[simulated[k]];
  }
  if (estimate <= 0) return {};
  const double ratio = value / estimate, n = values.size(), all = estimates.size();
  double squares = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double deviation = values[k] - ratio * estimates[simulated[k]];
    squares += deviation * deviation;
  }
  const double total = std::accumulate(estimates.begin(), estimates.end(), 0.0);
  const double width =
      n > 1 && n < all ? 1.96 * all * std::sqrt((1 - n / all) * squares / (n * (n - 1))) : 0;
  return {ratio * total, width};
}

}  // namespace poise
