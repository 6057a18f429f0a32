// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "poise/base/random.h"

namespace poise {
namespace {

TEST(Eigenvalues, computed_eigenvalues_of_a_path_graph_laplacian_never_exceed_the_exact_ones) {
  for (const std::size_t size : {1u, 2u, 3u, 40u}) {
    std::vector<double> laplacian(size * size, 0);
    for (std::size_t i = 0; i + 1 < size; ++i) {
      laplacian[i * size + i] += 1, laplacian[(i + 1) * size + i + 1] += 1;
      laplacian[i * size + i + 1] = laplacian[(i + 1) * size + i] = -1;
    }
    const std::vector<double> values = eigenvalues_from_below(laplacian, size);
    for (std::size_t k = 0; k < size; ++k) {
      const double expected =
          2 - 2 * std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(size));
      EXPECT_LE(values[k], expected);
      EXPECT_NEAR(values[k], expected, 1e-11);
    }
  }
}

TEST(Eigenvalues, eigenvalues_add_up_to_the_trace_and_their_squares_to_the_squared_norm) {
  constexpr std::size_t kSize = 30;
  Random random(7);
  std::vector<double> matrix(kSize * kSize);
  double trace = 0, square = 0;
  for (std::size_t i = 0; i < kSize; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      matrix[i * kSize + j] = matrix[j * kSize + i] = random.normal();
  for (std::size_t i = 0; i < kSize; ++i) trace += matrix[i * kSize + i];
  for (const double entry : matrix) square += entry * entry;
  const std::vector<double> values = eigenvalues_from_below(matrix, kSize);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  for (const double value : values) trace -= value, square -= value * value;
  EXPECT_NEAR(trace, 0, 1e-9);
  EXPECT_NEAR(square, 0, 1e-9);
}

TEST(Eigenvalues, multiple_eigenvalues_are_found_with_their_multiplicity) {
  std::vector<double> matrix(16, -1);  // the Laplacian of a complete graph of four vertices
  for (std::size_t i = 0; i < 4; ++i) matrix[i * 5] = 3;
  const std::vector<double> values = eigenvalues_from_below(matrix, 4);
  EXPECT_NEAR(values[0], 0, 1e-12);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_NEAR(values[k], 4, 1e-12);
}

}  // namespace
}  // namespace poise
