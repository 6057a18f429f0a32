// SPDX-License-Identifier: BSD-3-Clause
// The communication pattern of LeanMD (Pilla et al., ICPP 2012, section V-B): a 3-D array of cells
// and one compute task per pair of cells within the cutoff, including each cell with itself.
#include <algorithm>
#include <cmath>

#include "poise/base/error.h"
#include "poise/workload/edges.h"
#include "poise/workload/loads.h"

namespace poise {

namespace {

// Number of tasks per cell: the cell itself, one compute task for the forces inside the cell, and
// 13 compute tasks for its pairs with neighbours. A cell has 26 neighbours, but a pair is counted
// for only one of its two cells.
constexpr TaskId kTasksPerCell = 15;
// Minimum number of cells per side of a periodic box. With two, both neighbours of a cell along an
// axis would be the same cell.
constexpr TaskId kMinSide = 3;

/// A pair of neighbouring cells is assigned to one of the two. This table lists the pairs that are
/// assigned to a cell, each as the offset from this cell to the other one: 13 of its 26 neighbours,
/// and 0 for the pair of the cell with itself.
constexpr std::array<std::array<int, 3>, 14> kOwned{{{0, 0, 0},
                                                     {1, 0, 0},
                                                     {-1, 1, 0},
                                                     {0, 1, 0},
                                                     {1, 1, 0},
                                                     {-1, -1, 1},
                                                     {0, -1, 1},
                                                     {1, -1, 1},
                                                     {-1, 0, 1},
                                                     {0, 0, 1},
                                                     {1, 0, 1},
                                                     {-1, 1, 1},
                                                     {0, 1, 1},
                                                     {1, 1, 1}}};

/// Returns the periodic box of cells that gives the number of tasks nearest to num_tasks, among
/// boxes whose sides differ by at most one.
std::array<TaskId, 3> box_for(TaskId num_tasks) {
  std::array<TaskId, 3> side{kMinSide, kMinSide, kMinSide};
  const auto tasks_of = [](const std::array<TaskId, 3>& box) {
    return std::uint64_t{kTasksPerCell} * box[0] * box[1] * box[2];
  };
  if (num_tasks < tasks_of(side) / 2)
    fail(
        "kind leanmd: {} tasks are too few; the smallest box has 27 cells with {} tasks each, {} "
        "tasks in total",
        num_tasks, kTasksPerCell, tasks_of(side));
  for (std::size_t axis = 2;; axis = axis == 0 ? 2 : axis - 1) {
    auto larger = side;
    ++larger[axis];
    // The box stops growing when the next larger box would miss the requested number of tasks by
    // more than this box does.
    if (tasks_of(larger) + tasks_of(side) > std::uint64_t{2} * num_tasks) return side;
    side = larger;
  }
}

struct CellBox {
  std::array<TaskId, 3> side;
  TaskId size() const { return side[0] * side[1] * side[2]; }
  std::array<int, 3> point(TaskId cell) const {
    return {static_cast<int>(cell % side[0]), static_cast<int>(cell / side[0] % side[1]),
            static_cast<int>(cell / side[0] / side[1])};
  }
  TaskId wrapped(const std::array<int, 3>& at, const std::array<int, 3>& step) const {
    TaskId cell = 0;
    for (std::size_t axis = 3; axis-- > 0;) {
      const int length = side[axis];
      cell = cell * side[axis] + (at[axis] + step[axis] + length) % length;
    }
    return cell;
  }
};

/// Adds one message with positions from a cell to a compute task and one with forces back. The size
/// of both messages is proportional to the number of atoms in the cell.
void exchange(TaskId cell, TaskId compute, double atoms, const EdgeTraffic& traffic,
              std::vector<Message>& messages) {
  const auto bytes = scaled(traffic.bytes, atoms);
  messages.push_back({cell, compute, traffic.count, bytes});
  messages.push_back({compute, cell, traffic.count, bytes});
}

void scale_to_mean(double mean_s, std::vector<Task>& tasks) {
  double sum = 0;
  for (const Task& task : tasks) sum += task.load_s;
  if (!(sum > 0)) return;
  for (Task& task : tasks) task.load_s *= mean_s * tasks.size() / sum;
}

}  // namespace

Workload leanmd_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  const EdgeTraffic traffic(knobs);
  const SkewDraw draw(knobs);
  Random random(seed);
  const CellBox box{box_for(num_tasks)};
  std::vector<double> atoms(box.size());  // number of atoms of each cell, relative to the mean
  for (double& count : atoms) count = draw(random);

  Workload workload;
  workload.tasks.resize(std::size_t{kTasksPerCell} * box.size());
  workload.positions.resize(workload.tasks.size());
  workload.messages.reserve(std::size_t{54} * box.size());
  TaskId compute = box.size();
  for (TaskId cell = 0; cell < box.size(); ++cell) {
    const auto at = box.point(cell);
    // Integrating a cell's atoms costs little compared with a pair's forces.
    workload.tasks[cell].load_s = 0.05 * atoms[cell];
    workload.positions[cell] = {double(at[0]), double(at[1]), double(at[2])};
    for (const auto& step : kOwned) {
      const TaskId other = box.wrapped(at, step);
      const double pairs = atoms[cell] * atoms[other];
      workload.tasks[compute].load_s = other == cell ? pairs / 2 : pairs;
      workload.positions[compute] = {at[0] + step[0] / 2.0, at[1] + step[1] / 2.0,
                                     at[2] + step[2] / 2.0};
      exchange(cell, compute, atoms[cell], traffic, workload.messages);
      if (other != cell) exchange(other, compute, atoms[other], traffic, workload.messages);
      ++compute;
    }
  }
  scale_to_mean(knobs["load_s"], workload.tasks);
  for (Task& task : workload.tasks) task.bytes = static_cast<std::uint64_t>(knobs["task_bytes"]);
  return workload;
}

}  // namespace poise
