// SPDX-License-Identifier: BSD-3-Clause
// Fourier transforms of a three-dimensional array, forward and inverse. OpenMP threads synchronize
// after the transforms along each of the three directions. The program is a benchmark of the thread
// balancer (`poise juggle`): its phases take milliseconds and read much memory.
//
// Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <fmt/format.h>
#include <numbers>
#include <omp.h>
#include <utility>
#include <vector>

#include "miniapps/arguments.h"

#include "poise/base/random.h"

namespace {

using Number = std::complex<double>;

/// Transforms lines of `size` numbers, where `size` is a power of two.
class Transform {
 public:
  explicit Transform(std::size_t size) : size_(size) {
    for (std::size_t i = 0; i < size / 2; ++i)
      roots_.push_back(std::polar(1.0, -2 * std::numbers::pi * i / size));
  }

  /// Transforms a line in place; `is_back` selects the inverse transform.
  void apply(std::vector<Number>& line, bool is_back) const {
    for (std::size_t i = 1, reversed = 0; i < size_; ++i) {
      std::size_t bit = size_ / 2;
      for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
      reversed ^= bit;
      if (i < reversed) std::swap(line[i], line[reversed]);
    }
    for (std::size_t width = 2; width <= size_; width *= 2)
      for (std::size_t first = 0; first < size_; first += width)
        for (std::size_t i = 0; i < width / 2; ++i) {
          const Number root = roots_[i * (size_ / width)];
          Number& low = line[first + i];
          Number& high = line[first + i + width / 2];
          const Number turned = high * (is_back ? std::conj(root) : root);
          high = low - turned;
          low += turned;
        }
    if (is_back)
      for (Number& number : line) number /= size_;
  }

 private:
  std::size_t size_;
  std::vector<Number> roots_;
};

/// Transforms all lines of the cube in one direction. Numbers of a line are `stride` apart.
void transform_lines(std::vector<Number>& cube, const Transform& transform, std::size_t size,
                     std::size_t stride, bool is_back) {
  const std::int64_t lines = size * size;
#pragma omp parallel
  {
    std::vector<Number> line(size);
#pragma omp for schedule(static)
    for (std::int64_t l = 0; l < lines; ++l) {
      const std::size_t number = l;
      const std::size_t first = number / stride * stride * size + number % stride;
      for (std::size_t i = 0; i < size; ++i) line[i] = cube[first + i * stride];
      transform.apply(line, is_back);
      for (std::size_t i = 0; i < size; ++i) cube[first + i * stride] = line[i];
    }
  }
}

/// Transforms forward and back `steps` times. Returns the largest error.
double run(std::size_t size, int steps) {
  std::vector<Number> cube(size * size * size);
  poise::Random random(1);
  for (Number& number : cube) number = {random.uniform(-1, 1), random.uniform(-1, 1)};
  const std::vector<Number> before = cube;
  const Transform transform(size);
  for (int step = 0; step < 2 * steps; ++step)
    for (const std::size_t stride : {std::size_t{1}, size, size * size})
      transform_lines(cube, transform, size, stride, step % 2 == 1);
  double error = 0;
  for (std::size_t i = 0; i < cube.size(); ++i)
    error = std::max(error, std::abs(cube[i] - before[i]));
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  poise::miniapps::Arguments arguments(
      "Fourier transforms of a cube with OpenMP threads that synchronize after each direction.",
      "ft");
  std::uint32_t size = 128;
  int steps = 10;
  arguments.add("--size", size, "numbers per edge of the cube, a power of two", 2, 1024);
  arguments.add("--steps", steps, "number of pairs of a forward and a backward transform", 1,
                1000000);
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  if ((size & (size - 1)) != 0) {
    fmt::print(stderr, "ft: --size {}: not a power of two; use 64, 128 or 256\n", size);
    return 2;
  }
  const double start_s = omp_get_wtime();
  const double error = run(size, steps);
  fmt::print("{{\"elapsed_s\": {:.6f}, \"threads\": {}, \"error\": {:.3g}}}\n",
             omp_get_wtime() - start_s, omp_get_max_threads(), error);
  return error < 1e-9 ? 0 : 1;
}
