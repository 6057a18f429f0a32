// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients for the five-point stencil on a square grid. An iteration takes about a
// millisecond, in which OpenMP threads synchronize five times. So the program is a benchmark of the
// thread balancer (`poise juggle`) with short phases.
//
// Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <omp.h>
#include <vector>

#include "miniapps/arguments.h"

namespace {

// Each block is summed separately, and the sums are added in the order of the blocks, so that the
// result does not depend on the number of threads.
constexpr int kBlocks = 120;

using Vector = std::vector<double>;
using Partial = std::array<double, kBlocks>;

/// A grid of side x side points, divided into blocks of rows. Zeros surround the grid.
class Square {
 public:
  explicit Square(int side) : side_(side) {}
  std::size_t size() const { return static_cast<std::size_t>(side_ + 2) * (side_ + 2); }

  template <typename Function>
  void for_block(int block, Function function) const {
    const int first = side_ * block / kBlocks, end = side_ * (block + 1) / kBlocks;
    for (int row = first; row < end; ++row) {
      const std::size_t start = static_cast<std::size_t>(row + 1) * (side_ + 2) + 1;
      for (std::size_t i = start; i < start + side_; ++i) function(i);
    }
  }

  /// Computes row i of the matrix times x: four times the point minus its four neighbours.
  double apply(const Vector& x, std::size_t i) const {
    return 4 * x[i] - x[i - 1] - x[i + 1] - x[i - side_ - 2] - x[i + side_ + 2];
  }

 private:
  int side_;
};

double sum(const Partial& parts) {
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

/// Solves for a right-hand side of ones. Returns the squared residual divided by the initial one.
double solve(const Square& square, int iterations) {
  Vector x(square.size()), residual(square.size()), direction(square.size()), image(square.size());
  for (int block = 0; block < kBlocks; ++block)
    square.for_block(block, [&](std::size_t i) { residual[i] = direction[i] = 1; });
  Partial curvature{}, remaining{};
  double first = 0;
  for (int block = 0; block < kBlocks; ++block)
    square.for_block(block, [&](std::size_t) { first += 1; });
  double now = first, step = 0, next = 0;
#pragma omp parallel
  for (int iteration = 0; iteration < iterations; ++iteration) {
#pragma omp for schedule(static)
    for (int block = 0; block < kBlocks; ++block) {
      curvature[block] = 0;
      square.for_block(block, [&](std::size_t i) {
        image[i] = square.apply(direction, i);
        curvature[block] += direction[i] * image[i];
      });
    }
#pragma omp single
    step = now / sum(curvature);
#pragma omp for schedule(static)
    for (int block = 0; block < kBlocks; ++block) {
      remaining[block] = 0;
      square.for_block(block, [&](std::size_t i) {
        x[i] += step * direction[i];
        residual[i] -= step * image[i];
        remaining[block] += residual[i] * residual[i];
      });
    }
#pragma omp single
    {
      next = sum(remaining) / now;
      now = sum(remaining);
    }
#pragma omp for schedule(static)
    for (int block = 0; block < kBlocks; ++block)
      square.for_block(block,
                       [&](std::size_t i) { direction[i] = residual[i] + next * direction[i]; });
  }
  return now / first;
}

}  // namespace

int main(int argc, char** argv) {
  poise::miniapps::Arguments arguments(
      "Conjugate gradients with OpenMP threads that synchronize five times per iteration.", "cg");
  int side = 600, iterations = 1000;
  arguments.add("--side", side, "grid points per side of the square", kBlocks, 20000);
  arguments.add("--iterations", iterations, "number of iterations", 1, 10000000);
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  const double start_s = omp_get_wtime();
  const double remaining = solve(Square(side), iterations);
  fmt::print("{{\"elapsed_s\": {:.6f}, \"threads\": {}, \"residual\": {:.17g}}}\n",
             omp_get_wtime() - start_s, omp_get_max_threads(), remaining);
}
