// SPDX-License-Identifier: BSD-3-Clause
// Kinds of workloads whose tasks are points in space: a random geometric graph and clustered
// bodies.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "poise/base/random.h"
#include "poise/workload/edges.h"
#include "poise/workload/loads.h"

namespace poise {

namespace {

using Point = std::array<double, 3>;
constexpr double kPi = 3.14159265358979323846;

Random point_stream(std::uint64_t seed) { return Random(mix(seed ^ 0x706f696e7473)); }

/// Points in the unit cube, sorted into cells of equal size that are numbered row by row.
struct Cells {
  std::uint32_t side;
  std::size_t dims;
  std::vector<Point> points;  // sorted by cell
  // The index of each cell's first entry; the last element is the number of all entries.
  std::vector<std::size_t> first;

  Cells(std::vector<Point> unsorted, std::uint32_t cells_per_axis, std::size_t num_dims)
      : side(cells_per_axis), dims(num_dims), points(unsorted.size()) {
    std::size_t cells = 1;
    for (std::size_t axis = 0; axis < dims; ++axis) cells *= side;
    first.assign(cells + 2, 0);
    for (const Point& point : unsorted) ++first[cell_of(point) + 2];
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (const Point& point : unsorted) points[first[cell_of(point) + 1]++] = point;
    first.pop_back();
  }

  std::uint32_t along(double x) const {
    return std::min(static_cast<std::uint32_t>(x * side), side - 1);
  }
  std::size_t cell_of(const Point& point) const {
    std::size_t cell = 0;
    for (std::size_t axis = dims; axis-- > 0;) cell = cell * side + along(point[axis]);
    return cell;
  }
  std::size_t occupancy(std::size_t cell) const { return first[cell + 1] - first[cell]; }
};

double square_distance(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
  return sum;
}

/// Calls visit(u) for every point u other than t within the radius of point t. The radius must not
/// exceed a cell's width.
template <typename Visit>
void for_each_near(const Cells& cells, TaskId t, double radius, const Visit& visit) {
  const Point& point = cells.points[t];
  std::array<std::uint32_t, 3> low{}, high{};
  for (std::size_t axis = 0; axis < cells.dims; ++axis) {
    const std::uint32_t at = cells.along(point[axis]);
    low[axis] = at - (at > 0);
    high[axis] = std::min(at + 1, cells.side - 1);
  }
  for (std::size_t z = low[2]; z <= high[2]; ++z)
    for (std::size_t y = low[1]; y <= high[1]; ++y) {
      const std::size_t row = (z * cells.side + y) * cells.side;
      // The points of cells that are neighbours along x are contiguous in memory.
      for (std::size_t u = cells.first[row + low[0]]; u < cells.first[row + high[0] + 1]; ++u)
        if (u != t && square_distance(point, cells.points[u]) <= radius * radius) visit(u);
    }
}

/// Returns the radius of a disc or ball that contains on average `degree` points, if num_tasks
/// points are placed at random in the unit square or cube.
double radius_for(double degree, TaskId num_tasks, std::size_t dims) {
  const double part = degree / num_tasks;
  if (part <= 0) return 0;
  if (dims == 2) return std::sqrt(part / kPi);
  return portable_exp(portable_log(part * 3 / (4 * kPi)) / 3);
}

std::uint32_t root(double x, std::size_t dims) {
  return static_cast<std::uint32_t>(dims == 2 ? std::sqrt(x)
                                              : portable_exp(portable_log(x) / dims));
}

/// Interleaves the bits of the coordinates: points with similar keys are close (Morton 1966).
std::uint64_t morton_key(const Point& point) {
  std::uint64_t key = 0;
  std::array<std::uint64_t, 3> at{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    at[axis] = static_cast<std::uint64_t>(point[axis] * 0x1p20);
  for (int bit = 19; bit >= 0; --bit)
    for (std::size_t axis = 3; axis-- > 0;) key = key << 1 | (at[axis] >> bit & 1);
  return key;
}

std::vector<Point> clustered_points(TaskId num_tasks, const Knobs& knobs, Random& random) {
  const auto draw_anywhere = [&] {
    Point point{};
    for (double& x : point) x = random.uniform();
    return point;
  };
  std::vector<Point> centres(static_cast<std::size_t>(knobs["clusters"]));
  for (Point& centre : centres) centre = draw_anywhere();
  std::vector<Point> points(num_tasks);
  for (Point& point : points) {
    point = draw_anywhere();
    if (centres.empty() || random.uniform() >= knobs["clustered"]) continue;
    // The clusters have different widths: cluster i is 1 / (i + 1) times as wide as the first.
    const std::size_t i = random.below(centres.size());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double x = centres[i][axis] + 0.1 / (i + 1) * random.normal();
      point[axis] = x - std::floor(x);
    }
  }
  return points;
}

void sort_along_curve(std::vector<Point>& points) {
  std::vector<std::pair<std::uint64_t, Point>> keyed;
  keyed.reserve(points.size());
  for (const Point& point : points) keyed.emplace_back(morton_key(point), point);
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = keyed[i].second;
}

/// Sets loads that grow with the local density, because a body interacts with all others in its
/// cell.
void weigh_by_density(const std::vector<Point>& points, std::vector<Task>& tasks) {
  const TaskId num_tasks = points.size();
  const Cells cells(points, std::max(1u, root(num_tasks / 8.0, 3)), 3);
  double sum = 0;
  for (const Point& point : points) sum += cells.occupancy(cells.cell_of(point));
  for (TaskId t = 0; t < num_tasks; ++t) {
    const double here = cells.occupancy(cells.cell_of(points[t]));
    tasks[t].load_s *= here * num_tasks / sum;
  }
}

/// Connects each task with the next `near` tasks on the space-filling curve. Also connects tasks
/// that are farther apart, as in a tree: for every power 2^j above `near`, each task whose number
/// is a multiple of 2^j exchanges messages with the task whose number is the next multiple.
std::vector<Edge> tree_edges(TaskId num_tasks, TaskId near, const EdgeTraffic& traffic) {
  std::vector<Edge> edges;
  const auto add_stride = [&](std::uint64_t stride, std::uint64_t step) {
    for (std::uint64_t t = 0; t + stride < num_tasks; t += step)
      edges.emplace_back(t, t + stride, traffic.count, traffic.bytes);
  };
  for (std::uint64_t distance = 1; distance <= near; ++distance) add_stride(distance, 1);
  std::uint64_t scale = 1;
  while (scale <= near) scale *= 2;
  for (; scale < num_tasks; scale *= 2) add_stride(scale, scale);
  return edges;
}

}  // namespace

Workload geometric_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  const EdgeTraffic traffic(knobs);
  const auto dims = static_cast<std::size_t>(knobs["dims"]);
  const double radius = radius_for(knobs["degree"], num_tasks, dims);
  Random random = point_stream(seed);
  std::vector<Point> points(num_tasks, Point{});
  for (Point& point : points)
    for (std::size_t axis = 0; axis < dims; ++axis) point[axis] = random.uniform();

  // A cell must be at least as wide as the radius within which points are connected. More cells
  // than tasks would be of no use.
  const double most = radius > 0 ? std::min(1 / radius, 1e9) : 1e9;
  const std::uint32_t side =
      std::max(1u, std::min(static_cast<std::uint32_t>(most), root(num_tasks, dims)));
  Cells cells(std::move(points), side, dims);
  Workload workload;
  workload.tasks = draw_tasks(num_tasks, knobs, seed);
  for (TaskId t = 0; t < num_tasks; ++t)
    for_each_near(cells, t, radius, [&](TaskId u) {
      workload.messages.push_back({t, u, traffic.count, traffic.bytes});
    });
  workload.positions = std::move(cells.points);
  return workload;
}

Workload nbody_workload(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed) {
  Random random = point_stream(seed);
  Workload workload;
  workload.positions = clustered_points(num_tasks, knobs, random);
  sort_along_curve(workload.positions);
  workload.tasks = draw_tasks(num_tasks, knobs, seed);
  weigh_by_density(workload.positions, workload.tasks);
  const auto near = static_cast<TaskId>(knobs["degree"] / 2);
  workload.messages = messages_of(num_tasks, tree_edges(num_tasks, near, EdgeTraffic(knobs)));
  return workload;
}

}  // namespace poise
