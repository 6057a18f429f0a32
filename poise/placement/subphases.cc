// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/subphases.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace poise {

Subphases::Subphases(const Workload& workload) : workload_(workload), part_(1, 1.0) {
  if (workload.subphase_rule == SubphaseRule::no_wait) return;
  const auto& rows = workload.subphase_load_s;
  std::size_t most = 0;
  for (const std::vector<double>& row : rows) most = std::max(most, row.size());
  if (most < 2 || most > kMaxSubphases || rows.size() != workload.num_tasks()) return;

  std::vector<double> sums_s(most, 0);
  row_sum_s_.assign(rows.size(), 0);
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    const double sum_s = std::accumulate(rows[t].begin(), rows[t].end(), 0.0);
    if (!(sum_s > 0) || !std::isfinite(sum_s)) continue;
    row_sum_s_[t] = sum_s;
    for (std::uint32_t s = 0; s < rows[t].size(); ++s)
      sums_s[s] += workload.tasks[t].load_s * (rows[t][s] / sum_s);
  }
  const double total_s = std::accumulate(sums_s.begin(), sums_s.end(), 0.0);
  if (!(total_s > 0) || !std::isfinite(total_s)) return;
  part_.clear();
  for (const double sum_s : sums_s) part_.push_back(sum_s / total_s);
}

double Subphases::load_s(TaskId t, std::uint32_t subphase) const {
  const double load_s = workload_.tasks[t].load_s;
  if (count() == 1 || row_sum_s_[t] == 0) return load_s * part_[subphase];
  const std::vector<double>& row = workload_.subphase_load_s[t];
  return subphase < row.size() ? load_s * (row[subphase] / row_sum_s_[t]) : 0;
}

double Subphases::speed_of(const Machine& machine, PlaceId p, std::uint32_t subphase) const {
  const std::vector<double>& speed = workload_.subphase_speed;
  return count() == 1 || speed.empty() ? machine.speed_of(p)
                                       : speed[std::size_t{p} * count() + subphase];
}

double Subphases::time_of_all_s(std::span<const double> seconds) const {
  double sum_s = 0, longest_s = 0;
  for (const double s : seconds) sum_s += s, longest_s = std::max(longest_s, s);
  return overlap() ? longest_s : sum_s;
}

std::vector<double> subphase_work_s(const Machine& machine, const Workload& workload,
                                    const Subphases& subphases, const Placement& placement) {
  const std::uint32_t count = subphases.count();
  std::vector<double> work_s(std::size_t{machine.num_places()} * count, 0);
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    for (std::uint32_t s = 0; s < count; ++s)
      work_s[std::size_t{placement.of(t)} * count + s] += subphases.load_s(t, s);
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    for (std::uint32_t s = 0; s < count; ++s) {
      double& work = work_s[std::size_t{p} * count + s];
      work /= subphases.speed_of(machine, p, s);
      if (!workload.background_s.empty())
        work += workload.background_s[p] * subphases.part_of_rest(s);
    }
  return work_s;
}

}  // namespace poise
