// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/traffic_bound.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

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

/// Draws six tasks, some of them without load. Every other problem has background load.
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

/// All placements of six tasks on four places.
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
  int tight = 0;
  for (const char* text :
       {"numa:2 core:2 factors:3,1", "node:2 core:2 factors:7,1", "torus:4 core:1", "core:4",
        "core:4 speeds:1,0.5", "node:2 numa:1 l3:2 core:1 factors:5,3,0.5,1"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    for (int problem = 0; problem < 8; ++problem) {
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
  EXPECT_GE(tight, 24);  // of 48
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
  // 2 * 16 messages go between nodes, where the NUCO factor is 10. 2 * 8 messages go between places
  // of the same node, where it is 1.
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

}  // namespace
}  // namespace poise
