// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/traffic_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "poise/base/eigenvalues.h"
#include "poise/workload/links.h"

namespace poise {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The weights of all tasks add up to their total load plus this fraction of it, so that no task
/// has weight 0.
constexpr double kAdded = 1e-6;
/// Sums whose relative difference is below this value differ only by rounding.
constexpr double kRounding = 1e-9;
/// Minimum of the limit on the size of clusters: smaller clusters nearly fit on one place and give
/// no bound.
constexpr double kMinTasks = 32;
/// Maximum number of domains. On larger machines it would take too long to read the factors of all
/// pairs of domains.
constexpr DomainId kMaxDomains = 2'048;

/// Divides tasks into clusters of at most `max_tasks` tasks; each cluster is grown breadth-first.
std::vector<std::vector<TaskId>> clusters_of(const Links& links, TaskId num_tasks,
                                             std::size_t max_tasks) {
  std::vector<std::vector<TaskId>> clusters;
  std::vector<bool> is_taken(num_tasks, false);
  for (TaskId seed = 0; seed < num_tasks; ++seed) {
    if (is_taken[seed]) continue;
    std::vector<TaskId>& tasks = clusters.emplace_back(1, seed);
    is_taken[seed] = true;
    for (std::size_t next = 0; next < tasks.size(); ++next)
      for (const Link& link : links.of(tasks[next])) {
        if (tasks.size() == max_tasks) break;
        if (is_taken[link.task]) continue;
        is_taken[link.task] = true;
        tasks.push_back(link.task);
      }
  }
  return clusters;
}

Cluster cluster_of(const Links& links, std::span<const TaskId> tasks,
                   std::span<const double> weights, std::vector<std::size_t>& index_of) {
  const std::size_t size = tasks.size();
  for (std::size_t i = 0; i < size; ++i) index_of[tasks[i]] = i;
  std::vector<double> matrix(size * size, 0);
  Cluster cluster;
  for (std::size_t i = 0; i < size; ++i) {
    cluster.weight += weights[tasks[i]];
    for (const Link& link : links.of(tasks[i])) {
      const std::size_t j = index_of[link.task];
      if (j >= size || tasks[j] != link.task) continue;  // in another cluster
      const double count = link.count;
      matrix[i * size + i] += count / weights[tasks[i]];
      matrix[i * size + j] -= count / std::sqrt(weights[tasks[i]] * weights[link.task]);
    }
  }
  cluster.eigenvalues = eigenvalues_from_below(std::move(matrix), size);
  return cluster;
}

/// Lower bound on the factor of messages between different groups of the level. Inside a domain,
/// only pairs of consecutive places are examined. Any other pair has the same factor as one of
/// them: groups and domains are ranges of places, so between two places in different groups lie two
/// consecutive places with the same nearest common group.
double least_factor_between(const Machine& machine, std::size_t level) {
  double least = kInfinite;
  for (PlaceId p = 1; p < machine.num_places(); ++p)
    if (machine.group_of(level, p - 1) != machine.group_of(level, p))
      least = std::min({least, machine.message_factor(p - 1, p), machine.message_factor(p, p - 1)});
  const auto first_group = [&](DomainId d) {
    return machine.group_of(level, machine.first_place(d));
  };
  const auto last_group = [&](DomainId d) {
    return machine.group_of(level, machine.first_place(d + 1) - 1);
  };
  for (DomainId a = 0; a < machine.num_domains(); ++a)
    for (DomainId b = 0; b < machine.num_domains(); ++b)
      if (a != b && (first_group(a) != last_group(b) || last_group(a) != first_group(b)))
        least = std::min(least, machine.latency_factor(a, b));
  return least;
}

/// The largest weight that each group of the level can take within makespan_s, in descending order.
std::vector<double> rooms_of(const Machine& machine, const Workload& workload, double added,
                             std::size_t level, double makespan_s) {
  std::vector<double> rooms(machine.levels()[level].num_groups(), added);
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    const double background_s = workload.background_s.empty() ? 0 : workload.background_s[p];
    const double free_s = std::max(0.0, makespan_s * (1 + kRounding) - background_s);
    rooms[machine.group_of(level, p)] += free_s * machine.speed_of(p);
  }
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  return rooms;
}

/// Lower bound on the number of messages between groups of places if all tasks of `cluster` are
/// placed and no group gets more work than its entry in `rooms`.
double least_cut(const Cluster& cluster, std::span<const double> rooms) {
  double remaining = cluster.weight, twice = 0;
  for (std::size_t i = 0; i < std::min(rooms.size(), cluster.eigenvalues.size()) && remaining > 0;
       ++i) {
    const double part = std::min(remaining, rooms[i]);
    twice += part * std::max(0.0, cluster.eigenvalues[i]);
    remaining -= part;
  }
  return twice / 2;
}

}  // namespace

Spectra spectra_of(const Workload& workload, double max_work) {
  const TaskId num_tasks = workload.num_tasks();
  const double total_s = total_load_s(workload), max_tasks = std::sqrt(max_work / num_tasks);
  if (num_tasks == 0 || total_s == 0 || max_tasks < std::min<double>(kMinTasks, num_tasks))
    return {};
  Spectra spectra{{}, kAdded * total_s};
  std::vector<double> weights(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t)
    weights[t] = workload.tasks[t].load_s + spectra.added / num_tasks;
  const Links links = neighbours(workload);
  std::vector<std::size_t> index_of(num_tasks, 0);
  // Chooses clusters of equal size, as few as possible, with at most max_tasks tasks each.
  const double num_clusters = std::ceil(num_tasks / max_tasks);
  for (const std::vector<TaskId>& tasks :
       clusters_of(links, num_tasks, static_cast<std::size_t>(std::ceil(num_tasks / num_clusters))))
    spectra.clusters.push_back(cluster_of(links, tasks, weights, index_of));
  return spectra;
}

double least_nuco_messages(const Machine& machine, const Workload& workload, const Spectra& spectra,
                           double makespan_s) {
  if (spectra.clusters.empty() || machine.num_domains() > kMaxDomains) return 0;
  double least = 0, factor_within = 0;
  for (std::size_t level = machine.levels().size(); level-- > 0;) {
    const double factor = least_factor_between(machine, level);
    if (factor == kInfinite) break;  // the level has a single group
    const std::vector<double> rooms = rooms_of(machine, workload, spectra.added, level, makespan_s);
    double cut = 0;
    for (const Cluster& cluster : spectra.clusters) cut += least_cut(cluster, rooms);
    least += std::max(0.0, factor - factor_within) * cut;
    factor_within = std::max(factor, factor_within);
  }
  return least * (1 - kRounding);
}

}  // namespace poise
