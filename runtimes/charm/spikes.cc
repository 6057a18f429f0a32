// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/spikes.h"

#include <algorithm>
#include <numeric>

namespace poise::charm {

namespace {

constexpr double kSpike = 3;
constexpr std::size_t kTasksPerSpike = 100;

}  // namespace

std::size_t replace_spikes(const std::vector<std::vector<double>>& past_loads_s,
                           Workload& workload) {
  const std::size_t num_tasks = workload.tasks.size();
  double total_s = 0;
  for (const Task& task : workload.tasks) total_s += task.load_s;
  std::vector<double> usual_s;  // the larger one of the last values, at this phase's mean load
  const std::size_t num_past = std::min(past_loads_s.size(), kDecisionsForSpikes);
  for (auto past = past_loads_s.end() - num_past; past != past_loads_s.end(); ++past) {
    const double total_then_s = std::accumulate(past->begin(), past->end(), 0.0);
    if (!(total_then_s > 0) || past->size() > num_tasks) return 0;
    usual_s.resize(num_tasks);
    for (std::size_t t = 0; t < past->size(); ++t)
      usual_s[t] = std::max(usual_s[t], (*past)[t] * (total_s / total_then_s));
  }
  std::vector<std::size_t> spikes;
  for (std::size_t t = 0; t < usual_s.size(); ++t)
    if (workload.tasks[t].load_s > kSpike * usual_s[t]) spikes.push_back(t);
  if (spikes.size() > std::max<std::size_t>(1, num_tasks / kTasksPerSpike)) return 0;
  for (const std::size_t t : spikes) workload.tasks[t].load_s = usual_s[t];
  return spikes.size();
}

}  // namespace poise::charm
