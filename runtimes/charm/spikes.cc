// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/spikes.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace poise::charm {

namespace {

constexpr double kSpike = 3;
constexpr std::size_t kTasksPerSpike = 100;

/// Loads at an earlier decision, and the factor that scales their mean to that of the new loads.
struct Scaled {
  const std::vector<double>& loads_s;
  double factor;
};

/// Returns the largest of the task's loads at the last decisions, scaled to this phase's mean load.
/// It is computed per task, because a list of these loads would take 8 MB per million tasks.
double usual_load_s(const std::vector<Scaled>& past, std::size_t t) {
  double usual_s = 0;
  for (const Scaled& then : past)
    if (t < then.loads_s.size()) usual_s = std::max(usual_s, then.loads_s[t] * then.factor);
  return usual_s;
}

}  // namespace

std::size_t max_spikes(std::size_t num_tasks) {
  return std::max<std::size_t>(1, num_tasks / kTasksPerSpike);
}

bool is_spike(double load_s, double usual_s) { return load_s > kSpike * usual_s; }

std::size_t replace_spikes(const std::vector<std::vector<double>>& past_loads_s,
                           Workload& workload) {
  const std::size_t num_tasks = workload.tasks.size();
  double total_s = 0;
  for (const Task& task : workload.tasks) total_s += task.load_s;
  std::vector<Scaled> last;
  const std::size_t num_past = std::min(past_loads_s.size(), kDecisionsForSpikes);
  for (auto past = past_loads_s.end() - num_past; past != past_loads_s.end(); ++past) {
    const double total_then_s = std::accumulate(past->begin(), past->end(), 0.0);
    if (!(total_then_s > 0) || past->size() > num_tasks) return 0;
    last.push_back({*past, total_s / total_then_s});
  }
  if (last.empty()) return 0;
  const std::size_t most = max_spikes(num_tasks);
  std::vector<std::size_t> spikes;
  for (std::size_t t = 0; t < num_tasks; ++t) {
    if (!is_spike(workload.tasks[t].load_s, usual_load_s(last, t))) continue;
    if (spikes.size() == most) return 0;
    spikes.push_back(t);
  }
  for (const std::size_t t : spikes) workload.tasks[t].load_s = usual_load_s(last, t);
  return spikes.size();
}

}  // namespace poise::charm
