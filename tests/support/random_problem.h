// SPDX-License-Identifier: BSD-3-Clause
// Small random problems on every kind of machine, for tests that compare two algorithms.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/paths.h"

#include "poise/base/random.h"
#include "poise/machine/find.h"
#include "poise/machine/text.h"
#include "poise/placement/placement.h"
#include "poise/placement/problem.h"

namespace poise {

/// Owns the machine, workload and placement to which a Problem refers.
struct OwnedProblem {
  Machine machine;
  Workload workload;
  Placement current;
  Problem view() const { return {machine, workload, current, machine.costs()}; }
};

/// Returns a machine of the folder machines/ by its name.
inline Machine paper_machine(const std::string& name) {
  return find_machine(std::string(POISE_MACHINES "/") + name + ".json");
}

inline double random_factor(Random& random) { return 1 + 0.3 * random.below(6); }

/// Returns a random machine. Its network is a tree of any depth or has another shape. In some cases
/// its latency factors are random.
inline Machine random_machine(Random& random) {
  static constexpr std::string_view kTexts[] = {
      "core:1",
      "core:7",
      "numa:4 core:3",
      "node:1 numa:1 core:5",
      "node:6 core:2 factors:7,1",
      "node:20 numa:2 core:2 factors:3.4,1.53,1",
      "node:3 package:2 numa:3 core:2 factors:10,1.9,1.4,1",
      "node:4 package:2 numa:2 l3:2 core:2 factors:5,2,2,1,1",
      "rack:2 switch:3 node:2 numa:2 core:2 factors:12,8,5,1.5,1",
      "rack:2 node:4 core:2 factors:3,3,1",
      "node:5 numa:1 core:3 factors:1,1,1",
      "torus:3x2x4 core:2",
      "torus:4x3 node:2 numa:2 core:2 factors:9,4,1.5,1 hop:0.7",
      "mesh:3x3 numa:2 core:1 factors:4,1.4,1",
      "dragonfly:4x3 node:2 core:2 factors:6,3,1 hop:2",
      "node:9 numa:2 core:2 speeds:1,1,0.5,0.7",
      "node:3 numa:2 core:3 speeds:0.5 factors:10,1.5,1"};
  MachineParts parts = machine_from_text(kTexts[random.below(std::size(kTexts))]).parts();
  if (random.below(3) == 0)
    for (NodeKind& kind : parts.node_kinds)
      for (double& factor : kind.latency_factor) factor = random_factor(random);
  if (parts.kind_of_node.size() > 1 && random.below(3) == 0) {
    parts.node_kinds.push_back(parts.node_kinds[0]);
    for (double& factor : parts.node_kinds[1].latency_factor) factor += 0.25;
    for (auto& kind : parts.kind_of_node) kind = random.below(2);
  }
  if (parts.network.shape == Network::Shape::tree && random.below(4) == 0) {
    const std::uint32_t num_nodes = parts.kind_of_node.size();
    parts.network.shape = Network::Shape::matrix;
    parts.network.matrix_nodes = num_nodes;
    parts.network.matrix.resize(std::size_t{num_nodes} * num_nodes);
    for (double& factor : parts.network.matrix) factor = 2 * random_factor(random);
  }
  if (random.below(8) == 0)
    for (Place& place : parts.places) place.speed = random.uniform(0.25, 1);
  return Machine(std::move(parts));
}

/// Draws loads, messages and background load. Half of the problems have few distinct values, so
/// that ties are common.
inline OwnedProblem random_problem(Machine machine, Random& random) {
  OwnedProblem problem{std::move(machine), {}, {}};
  const std::uint32_t num_places = problem.machine.num_places();
  const bool has_ties = random.below(2) == 0;
  const double unit_s = random.below(2) == 0 ? 0.25 : 0.1;  // sums are exact for 0.25 only
  const auto load_s = [&] { return has_ties ? unit_s * random.below(4) : random.uniform(0, 1); };
  const TaskId num_tasks = 1 + random.below(4 * num_places);
  problem.current = Placement(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t) {
    problem.workload.tasks.push_back({load_s(), random.below(1000), random.below(10) > 0});
    problem.current.move(t, random.below(num_places));
  }
  if (random.below(3) == 0) problem.current = blocked(num_tasks, num_places);
  const std::uint64_t num_messages = random.below(6) * num_tasks;
  const std::uint64_t reach = 1 + random.below(num_tasks);
  for (std::uint64_t m = 0; m < num_messages; ++m) {
    const TaskId from = random.below(num_tasks);
    const TaskId to = (from + random.below(reach)) % num_tasks;
    problem.workload.messages.push_back({from, to, random.below(4), random.below(100)});
  }
  if (random.below(3) == 0)
    for (PlaceId p = 0; p < num_places; ++p) problem.workload.background_s.push_back(load_s());
  return problem;
}

inline OwnedProblem random_problem(Random& random) {
  return random_problem(random_machine(random), random);
}

/// Draws 20 tasks without messages. Places with low numbers have more tasks, and about one task in
/// eight is pinned. Loads are whole numbers of seconds, so that sums are exact.
inline OwnedProblem random_crowd(Machine machine, Random& random) {
  OwnedProblem crowd{std::move(machine), {}, Placement(20)};
  for (TaskId t = 0; t < 20; ++t) {
    crowd.workload.tasks.push_back(
        {.load_s = 1.0 * random.below(9), .movable = random.below(8) != 0});
    crowd.current.move(t, random.below(1 + random.below(crowd.machine.num_places())));
  }
  return crowd;
}

/// Returns the busy time that the task's place would have without the task. `busy_s` is the busy
/// time of the place with the task. If no other task on the place has a load, the result is exactly
/// the background load.
inline double busy_without_s(const Problem& problem, const Placement& placement, TaskId task,
                             double busy_s) {
  const Workload& workload = problem.workload;
  const PlaceId place = placement.of(task);
  const double without_s = busy_s - workload.tasks[task].load_s / problem.machine.speed_of(place);
  for (TaskId other = 0; other < workload.num_tasks(); ++other)
    if (other != task && placement.of(other) == place && workload.tasks[other].load_s > 0)
      return std::max(without_s, 0.0);
  return workload.background_s.empty() ? 0 : workload.background_s[place];
}

}  // namespace poise
