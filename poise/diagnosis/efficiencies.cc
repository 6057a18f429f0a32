// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/efficiencies.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace poise {

namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

double share(double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 1; }

std::vector<double> node_means(const std::vector<double>& values,
                               const std::vector<std::uint32_t>& node_of_rank) {
  const std::uint32_t num_nodes = 1 + *std::max_element(node_of_rank.begin(), node_of_rank.end());
  std::vector<double> sums(num_nodes), counts(num_nodes);
  for (std::size_t r = 0; r < values.size(); ++r) {
    sums[node_of_rank[r]] += values[r];
    ++counts[node_of_rank[r]];
  }
  std::vector<double> means;
  for (std::uint32_t n = 0; n < num_nodes; ++n)
    if (counts[n] > 0) means.push_back(sums[n] / counts[n]);
  return means;
}

}  // namespace

std::vector<double> phase_times_s(const MeasuredRun& run) {
  std::vector<double> times, ends_s(run.num_ranks());
  double begin_s = 0;  // of the phase
  for (const MeasuredPhase& phase : run.phases) {
    for (std::size_t r = 0; r < ends_s.size(); ++r) ends_s[r] += phase.ranks[r].wall_s;
    times.push_back(largest(ends_s) - begin_s);
    begin_s = largest(ends_s);
  }
  return times;
}

Efficiencies efficiencies(const MeasuredRun& run) {
  const std::size_t num_ranks = run.num_ranks();
  std::vector<double> useful(num_ranks), loads(num_ranks), ideal(num_ranks), errors(num_ranks);
  std::vector<double> walls(num_ranks);
  double queued_s = 0, asleep_s = 0;
  for (const MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < num_ranks; ++r) {
      const RankTimes& rank = phase.ranks[r];
      walls[r] += rank.wall_s;
      useful[r] += rank.useful_s;
      loads[r] += rank.load_s;
      ideal[r] += rank.useful_s + rank.waited.value;
      errors[r] += rank.waited.half_width * rank.waited.half_width;
      queued_s += rank.queued_s;
      asleep_s += rank.asleep_s;
    }
  Efficiencies result;
  const double run_s = result.run_s = largest(walls);
  const double in_node = largest(node_means(useful, run.node_of_rank));
  result.parallel = share(mean(useful), run_s);
  result.load_balance = share(mean(useful), largest(useful));
  result.inside_nodes = share(in_node, largest(useful));
  result.between_nodes = share(mean(useful), in_node);
  result.communication = share(largest(useful), run_s);
  const auto slowest = std::max_element(ideal.begin(), ideal.end()) - ideal.begin();
  // If the profile has no samples, waiting time cannot be distinguished from transfer time.
  result.transfer = run.knows_waiting ? share(ideal[slowest], run_s) : 1;
  result.serialisation = share(result.communication, result.transfer);
  if (run_s > 0) result.transfer_half_width = std::sqrt(errors[slowest]) / run_s;
  result.work_balance = share(mean(loads), largest(loads));
  const double wall_s = std::accumulate(walls.begin(), walls.end(), 0.0);
  result.queued = wall_s > 0 ? std::min(1.0, queued_s / wall_s) : 0;
  result.asleep = wall_s > 0 ? std::min(1.0, asleep_s / wall_s) : 0;
  return result;
}

}  // namespace poise
