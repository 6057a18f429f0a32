// SPDX-License-Identifier: BSD-3-Clause
// Kinds of workloads whose tasks form a graph without geometry: random, power-law, irregular,
// nested groups.
#include <algorithm>
#include <array>

#include "poise/base/error.h"
#include "poise/workload/edges.h"
#include "poise/workload/loads.h"

namespace poise {

namespace {

/// A random number stream for the edges only, so that the skew of the loads does not change the
/// edges.
Random edge_stream(std::uint64_t seed) { return Random(mix(seed ^ 0x6564676573)); }

std::uint64_t num_edges(TaskId num_tasks, const Knobs& knobs) {
  return static_cast<std::uint64_t>(num_tasks * knobs["degree"] / 2 + 0.5);
}

/// Returns a random task that is not `task`. There must be at least two tasks.
TaskId another(TaskId task, TaskId num_tasks, Random& random) {
  const TaskId drawn = random.below(num_tasks - 1);
  return drawn < task ? drawn : drawn + 1;
}

/// Chooses a quarter of the adjacency matrix with R-MAT's probabilities. The cumulative sums of the
/// probabilities, times 2^16, are thresholds. The index of the quarter is the number of thresholds
/// that a random 16-bit integer reaches.
class Quarters {
 public:
  explicit Quarters(const Knobs& knobs) {
    const double a = knobs["a"], ab = a + knobs["b"], abc = ab + knobs["c"];
    constexpr double kRounding = 1e-12;  // 0.33 + 0.56 + 0.11, for example, is a little above 1
    if (abc > 1 + kRounding)
      fail("kind rmat: the sum a + b + c of its knobs is {}; it must be at most 1", abc);
    below_ = {static_cast<std::uint32_t>(a * 65536), static_cast<std::uint32_t>(ab * 65536),
              static_cast<std::uint32_t>(abc * 65536)};
  }

  /// Draws a random cell of a square matrix with 2^levels rows.
  std::pair<std::uint64_t, std::uint64_t> draw(int levels, Random& random) const {
    std::uint64_t row = 0, column = 0, bits = 0;
    for (int level = 0; level < levels; ++level) {
      if (level % 4 == 0) bits = random.bits();
      const std::uint32_t piece = bits & 0xffff;
      bits >>= 16;
      const int quarter = (piece >= below_[0]) + (piece >= below_[1]) + (piece >= below_[2]);
      row = row * 2 + (quarter >> 1);
      column = column * 2 + (quarter & 1);
    }
    return {row, column};
  }

 private:
  std::array<std::uint32_t, 3> below_{};
};

/// Draws the distance to a partner. Its logarithm is uniform, so all scales are equally likely.
std::uint64_t any_scale(TaskId num_tasks, Random& random) {
  const double distance = portable_exp(random.uniform() * portable_log(num_tasks));
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(distance), 1, num_tasks - 1);
}

/// Connects tasks inside groups of `size` consecutive tasks. Each task picks `picks` partners in
/// its group.
void pick_inside(TaskId num_tasks, std::uint64_t size, std::uint64_t picks, std::uint64_t count,
                 std::uint64_t bytes, Random& random, std::vector<Edge>& edges) {
  for (TaskId t = 0; t < num_tasks; ++t) {
    const TaskId first = t / size * size;
    const TaskId members = std::min<std::uint64_t>(size, num_tasks - first);
    if (members < 2) continue;
    for (std::uint64_t i = 0; i < picks; ++i)
      edges.push_back({t, first + another(t - first, members, random), count, bytes});
  }
}

Workload workload_of(TaskId num_tasks, const std::vector<Edge>& edges, const Knobs& knobs,
                     std::uint64_t seed) {
  Workload workload;
  workload.tasks = draw_tasks(num_tasks, knobs, seed);
  workload.messages = messages_of(num_tasks, edges);
  return workload;
}

}  // namespace

Workload random_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  const EdgeTraffic traffic(knobs);
  Random random = edge_stream(seed);
  std::vector<Edge> edges(num_tasks > 1 ? num_edges(num_tasks, knobs) : 0);
  for (Edge& edge : edges) {
    const TaskId a = random.below(num_tasks);
    edge = {a, another(a, num_tasks, random), traffic.count, traffic.bytes};
  }
  return workload_of(num_tasks, edges, knobs, seed);
}

Workload rmat_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  const EdgeTraffic traffic(knobs);
  const Quarters quarters(knobs);
  Random random = edge_stream(seed);
  int levels = 0;
  while (std::uint64_t{1} << levels < num_tasks) ++levels;
  std::vector<Edge> edges;
  for (std::uint64_t i = num_edges(num_tasks, knobs); i > 0; --i) {
    const auto [row, column] = quarters.draw(levels, random);
    // The matrix may have more rows and columns than there are tasks. Edges in these extra rows and
    // columns are dropped, as are edges from a task to itself.
    if (row == column || row >= num_tasks || column >= num_tasks) continue;
    edges.emplace_back(row, column, traffic.count, traffic.bytes);
  }
  return workload_of(num_tasks, edges, knobs, seed);
}

Workload irregular_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  const EdgeTraffic traffic(knobs);
  const double sigma = knobs["bytes_spread"];
  Random random = edge_stream(seed);
  std::vector<Edge> edges(num_tasks > 1 ? num_edges(num_tasks, knobs) : 0);
  for (Edge& edge : edges) {
    const TaskId a = random.below(num_tasks);
    const TaskId b = (a + any_scale(num_tasks, random)) % num_tasks;
    const double size = portable_exp(sigma * random.normal() - sigma * sigma / 2);
    edge = {a, b, traffic.count, scaled(traffic.bytes, size)};
  }
  return workload_of(num_tasks, edges, knobs, seed);
}

Workload clusters_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  const EdgeTraffic traffic(knobs);
  const auto fanout = static_cast<std::uint64_t>(knobs["fanout"]);
  Random random = edge_stream(seed);
  std::vector<Edge> edges;
  auto picks = static_cast<std::uint64_t>(knobs["degree"]);
  double part = 1;
  for (std::uint64_t size = fanout;; size *= fanout) {
    pick_inside(num_tasks, size, picks, traffic.count, scaled(traffic.bytes, part), random, edges);
    if (size >= num_tasks) break;
    picks = std::min<std::uint64_t>(picks, 1);
    part *= knobs["decay"];
  }
  return workload_of(num_tasks, edges, knobs, seed);
}

}  // namespace poise
