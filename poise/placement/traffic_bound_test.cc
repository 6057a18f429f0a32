// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/traffic_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/eigenvalues.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/placement/placement.h"

namespace poise {
namespace {

double least_nuco_messages(const Machine& machine, const Workload& workload, double makespan_s) {
  return poise::least_nuco_messages(machine, workload, spectra_of(workload), makespan_s);
}

Metrics metrics_of(const Machine& machine, const Workload& workload, const Placement& placement) {
  return evaluate(machine, workload, machine.costs(), placement, placement);
}

/// Draws six tasks and their messages. In every fourth problem, task 0 has no load. Every second
/// problem has background load.
Workload small_workload(int problem, Random& random) {
  Workload workload;
  for (TaskId t = 0; t < 6; ++t)
    workload.tasks.push_back({.load_s = problem % 4 == 0 && t == 0 ? 0 : 0.2 + random.uniform()});
  for (int m = 0; m < 14; ++m)
    workload.messages.push_back({static_cast<TaskId>(random.below(6)),
                                 static_cast<TaskId>(random.below(6)), 1 + random.below(3)});
  if (problem % 2 == 1) workload.background_s = {random.uniform(), 0, 0, random.uniform()};
  return workload;
}

/// The metrics of all placements of six tasks on four places.
std::vector<Metrics> metrics_of_all(const Machine& machine, const Workload& workload) {
  std::vector<Metrics> all;
  for (std::uint32_t code = 0; code < 1u << 12; ++code) {
    Placement placement(6);
    for (TaskId t = 0; t < 6; ++t) placement.move(t, code >> (2 * t) & 3);
    all.push_back(metrics_of(machine, workload, placement));
  }
  return all;
}

TEST(TrafficBound,
     no_placement_of_a_small_problem_has_less_traffic_than_the_bound_for_its_makespan) {
  Random random(11);
  constexpr int problems = fewer_if_sanitized(8);
  int tight = 0;
  for (const char* text :
       {"numa:2 core:2 factors:3,1", "node:2 core:2 factors:7,1", "torus:4 core:1", "core:4",
        "core:4 speeds:1,0.5", "node:2 numa:1 l3:2 core:1 factors:5,3,0.5,1"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    for (int problem = 0; problem < problems; ++problem) {
      const Workload workload = small_workload(problem, random);
      const std::vector<Metrics> all = metrics_of_all(machine, workload);
      double best_s = all[0].makespan_s, least = all[0].nuco_messages;
      for (const Metrics& metrics : all) best_s = std::min(best_s, metrics.makespan_s);
      for (const Metrics& metrics : all)
        if (metrics.makespan_s <= best_s) least = std::min(least, metrics.nuco_messages);
      // With the first value of max_work, all tasks form one cluster; with the second, they form
      // two clusters of 3 tasks each.
      for (const double max_work : {3e8, 6 * 9.0}) {
        const Spectra spectra = spectra_of(workload, max_work);
        for (const Metrics& metrics : all)
          ASSERT_LE(poise::least_nuco_messages(machine, workload, spectra, metrics.makespan_s),
                    metrics.nuco_messages);
      }
      tight += least_nuco_messages(machine, workload, best_s) > 0.6 * least;
    }
  }
  EXPECT_GE(tight, 3 * problems);  // at least half of all 6 * problems bounds are tight
}

TEST(TrafficBound, is_exact_for_a_complete_graph) {
  Workload workload;
  workload.tasks.assign(8, {.load_s = 1});
  for (TaskId a = 0; a < 8; ++a)
    for (TaskId b = 0; b < 8; ++b)
      if (a != b) workload.messages.push_back({a, b, 1, 0});
  const Machine machine = machine_from_text("node:2 core:2 factors:10,1");
  Placement placement(8);
  for (TaskId t = 0; t < 8; ++t) placement.move(t, t / 2);
  // 32 messages between nodes have the NUCO factor 10. 16 messages between places of the same node
  // have the NUCO factor 1.
  EXPECT_EQ(metrics_of(machine, workload, placement).nuco_messages, 336);
  EXPECT_NEAR(least_nuco_messages(machine, workload, 2), 336, 0.01);
  EXPECT_NEAR(least_nuco_messages(machine, workload, 8), 0, 0.01);
}

TEST(TrafficBound, is_zero_without_loads_or_messages) {
  const Machine machine = machine_from_text("core:4");
  Workload workload;
  EXPECT_EQ(least_nuco_messages(machine, workload, 1), 0);
  workload.tasks.assign(4, {.load_s = 1});
  EXPECT_EQ(least_nuco_messages(machine, workload, 1), 0);
  workload.tasks.assign(4, {.load_s = 0});
  workload.messages = {{0, 1, 1, 0}, {2, 3, 1, 0}};
  EXPECT_EQ(least_nuco_messages(machine, workload, 0), 0);
}

TEST(TrafficBound, is_zero_if_computing_it_would_take_too_long) {
  Workload workload;
  workload.tasks.assign(1'000, {.load_s = 1});
  EXPECT_TRUE(spectra_of(workload, 1'000 * 31.0 * 31).clusters.empty());
  EXPECT_FALSE(spectra_of(workload, 1'000 * 33.0 * 33).clusters.empty());
}

/// The matrix D^-1/2 L D^-1/2 of the tasks' messages, computed from its definition.
std::vector<double> scaled_laplacian(const Workload& workload, const std::vector<TaskId>& tasks,
                                     double added_each) {
  const std::size_t size = tasks.size();
  std::vector<double> matrix(size * size, 0);
  for (const Message& message : workload.messages)
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        if (i == j || tasks[i] != message.from || tasks[j] != message.to) continue;
        const double count = static_cast<double>(message.count);
        const double a = workload.tasks[tasks[i]].load_s + added_each;
        const double b = workload.tasks[tasks[j]].load_s + added_each;
        matrix[i * size + i] += count / a;
        matrix[j * size + j] += count / b;
        matrix[i * size + j] -= count / std::sqrt(a * b);
        matrix[j * size + i] -= count / std::sqrt(a * b);
      }
  return matrix;
}

TEST(TrafficBound, the_spectrum_of_a_cluster_is_that_of_the_scaled_laplacian_of_its_messages) {
  Random random(5);
  int connected = 0;
  for (int problem = 0; problem < 40; ++problem) {
    SCOPED_TRACE(problem);
    const Workload workload = small_workload(problem, random);
    const Spectra spectra = spectra_of(workload);
    if (spectra.clusters.size() > 1) continue;  // the graph is not connected
    ++connected;
    double total_s = 0;
    for (const Task& task : workload.tasks) total_s += task.load_s;
    EXPECT_NEAR(spectra.added, 1e-6 * total_s, 1e-18);
    EXPECT_NEAR(spectra.clusters[0].weight, total_s * (1 + 1e-6), 1e-12);
    // The cluster lists the tasks in another order, but the eigenvalues stay the same.
    const std::vector<double> expected = eigenvalues_from_below(
        scaled_laplacian(workload, {0, 1, 2, 3, 4, 5}, spectra.added / 6), 6);
    ASSERT_EQ(spectra.clusters[0].eigenvalues.size(), 6u);
    const double tolerance = 1e-12 * std::max(10.0, expected.back());
    for (std::size_t k = 0; k < 6; ++k)
      EXPECT_NEAR(spectra.clusters[0].eigenvalues[k], expected[k], tolerance);
  }
  EXPECT_GT(connected, 20);
}

TEST(TrafficBound, large_graphs_are_cut_into_equal_clusters_of_neighbouring_tasks) {
  // Tasks on a path exchange 1, 2, ... messages with the next task.
  Workload workload;
  for (TaskId t = 0; t < 100; ++t) {
    workload.tasks.push_back({.load_s = 1 + 0.01 * t});
    if (t > 0) workload.messages.push_back({t, t - 1, t, 8});
  }
  const Spectra spectra = spectra_of(workload, 100 * 35.0 * 35);  // at most 35 tasks: 3 clusters
  ASSERT_EQ(spectra.clusters.size(), 3u);
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<TaskId> tasks;
    double weight = 0;
    for (auto t = static_cast<TaskId>(34 * c); t < std::min<TaskId>(100, 34 * (c + 1)); ++t) {
      tasks.push_back(t);
      weight += workload.tasks[t].load_s + spectra.added / 100;
    }
    EXPECT_NEAR(spectra.clusters[c].weight, weight, 1e-9);
    const std::vector<double> expected = eigenvalues_from_below(
        scaled_laplacian(workload, tasks, spectra.added / 100), tasks.size());
    ASSERT_EQ(spectra.clusters[c].eigenvalues.size(), tasks.size());
    for (std::size_t k = 0; k < tasks.size(); ++k)
      EXPECT_NEAR(spectra.clusters[c].eigenvalues[k], expected[k], 1e-7);
  }
}

/// The bound by its formula in traffic_bound.h. Its terms (factors, and the load for which a group
/// has room) are found by looking at all places.
double naive_bound(const Machine& machine, const Workload& workload, const Spectra& spectra,
                   double makespan_s) {
  double bound = 0, finer = 0;
  for (std::size_t level = machine.levels().size(); level-- > 0;) {
    std::vector<double> rooms(machine.levels()[level].num_groups(), spectra.added);
    double factor = std::numeric_limits<double>::infinity();
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      const double background_s = workload.background_s.empty() ? 0 : workload.background_s[p];
      rooms[machine.group_of(level, p)] +=
          std::max(0.0, makespan_s - background_s) * machine.speed_of(p);
      for (PlaceId q = 0; q < machine.num_places(); ++q)
        if (machine.group_of(level, p) != machine.group_of(level, q))
          factor = std::min(factor, machine.message_factor(p, q));
    }
    if (rooms.size() == 1) break;
    std::sort(rooms.begin(), rooms.end(), std::greater<>());
    double cut = 0;
    for (const Cluster& cluster : spectra.clusters) {
      double rest = cluster.weight;
      for (std::size_t i = 0; i < rooms.size() && i < cluster.eigenvalues.size(); ++i) {
        const double part = std::min(std::max(rest, 0.0), rooms[i]);
        cut += 0.5 * part * std::max(0.0, cluster.eigenvalues[i]);
        rest -= part;
      }
    }
    bound += std::max(0.0, factor - finer) * cut;
    finer = std::max(finer, factor);
  }
  return bound;
}

TEST(TrafficBound,
     each_level_adds_its_cut_times_the_difference_of_its_factor_and_that_of_the_next_finer_level) {
  Random random(6);
  for (const char* text :
       {"numa:2 core:2 factors:3,1", "node:2 core:2 factors:7,1", "torus:4 core:1", "core:4",
        "core:4 speeds:1,0.5", "node:2 numa:1 l3:2 core:1 factors:5,3,0.5,1",
        "node:2 numa:2 l3:2 core:1 factors:9,4,1.5,1", "numa:2 l3:2 core:2 factors:2,1.5,1",
        "mesh:3 node:2 core:1 factors:4,2,1", "node:1 core:4", "node:2 numa:2 core:2 factors:2,3,1",
        "rack:2 node:2 core:2 factors:20,10,1"}) {
    SCOPED_TRACE(text);
    MachineParts parts = machine_from_text(text).parts();
    for (int problem = 0; problem < 8; ++problem) {
      Workload workload = small_workload(problem % 4 < 2 ? 0 : 2, random);
      if (problem % 2 == 0)
        for (std::size_t p = 0; p < parts.places.size(); ++p)
          workload.background_s.push_back(random.below(2) == 0 ? random.uniform(0, 3) : 0);
      for (std::size_t d = 0; problem % 4 == 3 && d < parts.node_kinds[0].latency_factor.size();
           ++d)
        parts.node_kinds[0].latency_factor[d] = 1 + random.uniform(0, 3);
      const Machine machine(parts);
      for (const double max_work : {3e8, 6 * 9.0}) {
        const Spectra spectra = spectra_of(workload, max_work);
        for (const double makespan_s : {0.5, 1.0, 1.7, 2.5, 9.0}) {
          const double expected = naive_bound(machine, workload, spectra, makespan_s);
          EXPECT_NEAR(poise::least_nuco_messages(machine, workload, spectra, makespan_s), expected,
                      1e-6 * expected + 1e-6);
        }
      }
    }
  }
}

TEST(TrafficBound,
     there_are_no_clusters_if_the_size_limit_allows_neither_32_tasks_nor_all_tasks_per_cluster) {
  const auto sizes = [](TaskId num_tasks, double max_tasks) {
    Workload workload;
    workload.tasks.assign(num_tasks, {.load_s = 1});
    for (TaskId t = 1; t < num_tasks; ++t) workload.messages.push_back({t - 1, t, 1, 0});
    std::vector<std::size_t> found;
    for (const Cluster& cluster : spectra_of(workload, num_tasks * max_tasks * max_tasks).clusters)
      found.push_back(cluster.eigenvalues.size());
    return found;
  };
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(sizes(31, 31), Sizes{31});
  EXPECT_EQ(sizes(31, 30.9), Sizes{});
  EXPECT_EQ(sizes(1, 1), Sizes{1});
  EXPECT_EQ(sizes(32, 32), Sizes{32});
  EXPECT_EQ(sizes(33, 32), (Sizes{17, 16}));
  EXPECT_EQ(sizes(64, 32), (Sizes{32, 32}));
  EXPECT_EQ(sizes(64, 31.9), Sizes{});
  EXPECT_EQ(sizes(100, 40), (Sizes{34, 34, 32}));
}

}  // namespace
}  // namespace poise
