// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation in a cube, u = 0 at its walls, by Jacobi's method in blocks. The right-hand
// side is a sum of three sine modes, which are eigenvectors of the iteration. So the exact solution
// is known, and also the exact value of every point after any number of iterations.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "miniapps/program.h"

namespace poise::miniapps::poisson3d {

constexpr double kPi = 3.14159265358979323846;

/// A mode: the function amplitude · sin(πmx) sin(πny) sin(πoz), with waves = {m, n, o}.
struct Mode {
  double amplitude;
  std::array<std::uint32_t, 3> waves;
};
constexpr std::array<Mode, 3> kSolution = {{{1, {1, 1, 1}}, {0.5, {2, 1, 3}}, {-0.25, {1, 4, 2}}}};

/// Computes sin(π i/n) by its power series, which gives the same bits on every platform.
inline double sine(std::uint64_t i, std::uint64_t n) {
  i %= 2 * n;
  if (i >= n) return -sine(i - n, n);
  if (2 * i > n) i = n - i;
  const double x = kPi * i / n;
  double sum = 0;
  for (int k = 25; k >= 3; k -= 2) sum = (1 + sum) * -(x * x) / (k * (k - 1));
  return x * (1 + sum);
}

/// A cube of blocks³ blocks, each of points³ points.
struct Grid {
  std::uint32_t blocks = 0, points = 0;

  std::uint64_t intervals() const { return std::uint64_t{blocks} * points + 1; }  // per axis
  double spacing() const { return 1.0 / intervals(); }
  /// Returns the eigenvalue of the operator -∇² for this mode.
  static double eigenvalue(const Mode& mode) {
    double sum = 0;
    for (const double m : mode.waves) sum += m * m;
    return kPi * kPi * sum;
  }
  /// Returns the factor by which a Jacobi iteration multiplies the error in this mode.
  double decay(const Mode& mode) const {
    double sum = 0;
    for (const double m : mode.waves) sum += std::cos(kPi * m * spacing());
    return sum / 3;
  }
  /// Returns the amplitude of `mode` after `iterations` Jacobi iterations that start from zero,
  /// divided by its amplitude in the exact solution.
  double progress(const Mode& mode, double iterations) const {
    const double discrete = 6 * (1 - decay(mode)) / (spacing() * spacing());
    return eigenvalue(mode) / discrete * (1 - std::pow(decay(mode), iterations));
  }
};

struct Block {
  std::array<std::uint32_t, 3> place{};
  Grid grid;
  bool has_begun = false;
  std::vector<double> values, next;  // with a frame of ghost points
  std::vector<double> source;        // h² times the right-hand side, without a frame

  Block() = default;
  Block(ObjectId id, const Grid& of) : grid(of) {
    for (std::uint32_t& coordinate : place) {
      coordinate = id % grid.blocks;
      id /= grid.blocks;
    }
    const std::size_t n = grid.points;
    values.assign((n + 2) * (n + 2) * (n + 2), 0);
    source.assign(n * n * n, 0);
    next = values;
    const double h = grid.spacing();
    std::array<double, 3> factors{};
    for (std::size_t m = 0; m < kSolution.size(); ++m)
      factors[m] = h * h * Grid::eigenvalue(kSolution[m]);
    for_each_point([&](std::size_t i, std::size_t, const std::array<double, 3>& modes) {
      for (std::size_t m = 0; m < modes.size(); ++m) source[i] += factors[m] * modes[m];
    });
  }

  std::size_t stride(std::size_t axis) const {
    const std::size_t row = grid.points + 2;
    return axis == 0 ? 1 : axis == 1 ? row : row * row;
  }

  /// Calls visit(i, p, modes) for every point of the block: i is the index of the point in
  /// `source`, p its index in `values`, and `modes` holds the three modes of the exact solution at
  /// the point.
  template <typename Visit>
  void for_each_point(Visit visit) const {
    const std::uint64_t n = grid.points;
    std::array<std::vector<double>, 9> sines;  // [3 * m + a]: sine factors of mode m on axis a
    for (std::size_t s = 0; s < sines.size(); ++s)
      for (std::uint64_t i = 0; i < n; ++i)
        sines[s].push_back(
            sine(kSolution[s / 3].waves[s % 3] * (place[s % 3] * n + i + 1), grid.intervals()));
    std::size_t number = 0;
    for (std::size_t z = 0; z < n; ++z)
      for (std::size_t y = 0; y < n; ++y)
        for (std::size_t x = 0; x < n; ++x, ++number) {
          std::array<double, 3> modes{};
          for (std::size_t m = 0; m < modes.size(); ++m)
            modes[m] = kSolution[m].amplitude * sines[3 * m][x] * sines[3 * m + 1][y] *
                       sines[3 * m + 2][z];
          visit(number, (z + 1) * stride(2) + (y + 1) * stride(1) + x + 1, modes);
        }
  }

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) {
      std::uint32_t axis = 0, layer = 0;
      std::span<const double> face;
      mail.read(axis, layer, face);
      std::size_t i = 0;
      for_each_of_layer(axis, layer, [&](std::size_t p) { values[p] = face[i++]; });
    }
    if (has_begun) relax();
    has_begun = true;
    const std::uint32_t n = grid.points;
    ObjectId apart = 1, id = 0;
    for (std::size_t axis = 3; axis-- > 0;) id = id * grid.blocks + place[axis];
    for (std::uint32_t axis = 0; axis < 3; ++axis, apart *= grid.blocks) {
      if (place[axis] > 0) outbox.send(id - apart, axis, n + 1, layer(axis, 1));
      if (place[axis] + 1 < grid.blocks) outbox.send(id + apart, axis, 0U, layer(axis, n));
    }
  }

  /// Visits the points of one layer perpendicular to an axis. Layers 0 and points + 1 consist of
  /// ghost points, which hold values of the neighbouring blocks.
  template <typename Visit>
  void for_each_of_layer(std::size_t axis, std::size_t number, Visit visit) const {
    const std::size_t u = stride(axis == 0 ? 1 : 0), v = stride(axis == 2 ? 1 : 2);
    for (std::size_t j = 1; j <= grid.points; ++j)
      for (std::size_t i = 1; i <= grid.points; ++i) visit(number * stride(axis) + j * v + i * u);
  }

  std::vector<double> layer(std::size_t axis, std::size_t number) const {
    std::vector<double> face;
    face.reserve(std::size_t{grid.points} * grid.points);
    for_each_of_layer(axis, number, [&](std::size_t p) { face.push_back(values[p]); });
    return face;
  }

  void relax() {
    const std::size_t n = grid.points, row = stride(1), plane = stride(2);
    for (std::size_t z = 0; z < n; ++z)
      for (std::size_t y = 0; y < n; ++y) {
        const std::size_t p = (z + 1) * plane + (y + 1) * row + 1, s = (z * n + y) * n;
        for (std::size_t x = p; x < p + n; ++x)
          next[x] = ((values[x - 1] + values[x + 1]) + (values[x - row] + values[x + row]) +
                     (values[x - plane] + values[x + plane]) + source[s + x - p]) *
                    (1.0 / 6);
      }
    values.swap(next);
  }

  /// Returns the memory whose pages move if the block migrates to another NUMA domain.
  std::vector<std::span<std::byte>> memory() {
    return {std::as_writable_bytes(std::span(values)), std::as_writable_bytes(std::span(next)),
            std::as_writable_bytes(std::span(source))};
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(place, grid, has_begun, values, source);
    if constexpr (Archive::is_loading) next.assign(values.size(), 0);
  }
};

struct Sums {
  double values = 0;
  double error = 0;     // largest deviation from the expected result of the iterations
  double to_exact = 0;  // largest deviation from the exact solution
  Sums& operator+=(const Sums& other) {
    values += other.values;
    error = std::max(error, other.error);
    to_exact = std::max(to_exact, other.to_exact);
    return *this;
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "poisson3d";
  static constexpr const char* kSummary =
      "Poisson's equation in a cube by Jacobi's method in blocks, checked against the exact "
      "solution.";
  std::uint64_t iterations = 200;
  Grid grid{4, 16};

  void add_options(Arguments& arguments) {
    arguments.add("--blocks", grid.blocks, "blocks per axis", 1, 200);
    arguments.add("--points", grid.points, "points per axis of a block", 1, 500);
  }
  ObjectId num_objects() const { return grid.blocks * grid.blocks * grid.blocks; }
  std::uint64_t steps() const { return iterations + 1; }
  Block object(ObjectId id) const { return Block(id, grid); }
  Sums sum_of(const Block& block) const {
    std::array<double, 3> progress{};
    for (std::size_t m = 0; m < progress.size(); ++m)
      progress[m] = grid.progress(kSolution[m], iterations);
    Sums sums;
    block.for_each_point([&](std::size_t, std::size_t p, const std::array<double, 3>& modes) {
      const double value = block.values[p];
      double expected = 0;
      for (std::size_t m = 0; m < modes.size(); ++m) expected += progress[m] * modes[m];
      sums.values += value;
      sums.error = std::max(sums.error, std::fabs(value - expected));
      sums.to_exact = std::max(sums.to_exact, std::fabs(value - (modes[0] + modes[1] + modes[2])));
    });
    return sums;
  }
  double checksum(const Sums& sums) const { return sums.values; }
  void check(const Sums&, const Sums& last) const {
    fmt::print("largest distance to the exact solution {:.3e}, to what {} iterations give {:.1e}\n",
               last.to_exact, iterations, last.error);
    if (!(last.error < 1e-12))
      fail("a value deviates by {:.3e} from the expected one; the tolerance is 1e-12", last.error);
  }
};

}  // namespace poise::miniapps::poisson3d
