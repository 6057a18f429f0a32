// SPDX-License-Identifier: BSD-3-Clause
// Kinds of workload on regular grids and rings.
#include <algorithm>

#include "poise/workload/box.h"
#include "poise/workload/edges.h"
#include "poise/workload/loads.h"

namespace poise {

namespace {

/// Connects each point with its neighbours in both directions of every axis. A side of two points
/// does not wrap around, because that would reach the same neighbour again.
void connect(const Box& box, std::size_t dims, bool periodic, const EdgeTraffic& traffic,
             std::vector<Message>& messages) {
  messages.reserve(std::size_t{2} * dims * box.size);
  for (TaskId t = 0; t < box.size; ++t) {
    const auto at = box.point(t);
    std::uint64_t stride = 1;
    for (std::size_t axis = 0; axis < dims; ++axis) {
      const std::uint32_t side = box.side[axis];
      const std::uint64_t round = stride * (side - 1);
      const bool wraps = periodic && side > 2;
      const auto send = [&](std::uint64_t to) {
        if (to < box.size) messages.emplace_back(t, to, traffic.count, traffic.bytes);
      };
      if (at[axis] > 0) send(t - stride);
      if (at[axis] + 1 < side) send(t + stride);
      if (wraps && at[axis] == 0) send(t + round);
      if (wraps && at[axis] + 1 == side) send(t - round);
      stride *= side;
    }
  }
}

/// Positions have only three coordinates. The three-dimensional slices of a four-dimensional grid
/// are therefore put side by side along the first axis.
std::vector<std::array<double, 3>> positions_in(const Box& box) {
  std::vector<std::array<double, 3>> positions(box.size);
  for (TaskId t = 0; t < box.size; ++t) {
    const auto at = box.point(t);
    positions[t] = {static_cast<double>(at[0] + at[3] * box.side[0]), static_cast<double>(at[1]),
                    static_cast<double>(at[2])};
  }
  return positions;
}

Workload stencil(TaskId num_tasks, std::size_t dims, const Knobs& knobs, std::uint64_t seed) {
  const Box box = box_of(num_tasks, dims);
  Workload workload;
  workload.tasks = draw_tasks(num_tasks, knobs, seed);
  connect(box, dims, knobs.choice("periodic") == "yes", EdgeTraffic(knobs), workload.messages);
  workload.positions = positions_in(box);
  return workload;
}

}  // namespace

Workload stencil2d_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  return stencil(num_tasks, 2, knobs, seed);
}

Workload stencil3d_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  return stencil(num_tasks, 3, knobs, seed);
}

Workload stencil4d_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  return stencil(num_tasks, 4, knobs, seed);
}

Workload ring_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  const EdgeTraffic traffic(knobs);
  const auto partners = std::min(static_cast<TaskId>(knobs["k"]), num_tasks - 1);
  Workload workload;
  workload.tasks = draw_tasks(num_tasks, knobs, seed);
  workload.messages.reserve(std::size_t{num_tasks} * partners);
  for (TaskId t = 0; t < num_tasks; ++t)
    for (TaskId i = 0; i < partners; ++i) {
      const std::uint64_t distance = i / 2 + 1;
      const std::uint64_t ahead = i % 2 == 0 ? distance : num_tasks - distance;
      const TaskId to = (t + ahead) % num_tasks;
      workload.messages.push_back({t, to, traffic.count, traffic.bytes});
    }
  for (TaskId t = 0; t < num_tasks; ++t)
    workload.positions.push_back({static_cast<double>(t), 0, 0});
  return workload;
}

}  // namespace poise
