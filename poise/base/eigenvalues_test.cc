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

TEST(Eigenvalues,
     the_sum_of_eigenvalues_is_the_trace_and_the_sum_of_their_squares_is_the_squared_norm) {
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

/// The eigenvalues by Jacobi's method: each rotation makes one off-diagonal entry zero.
std::vector<double> by_rotations(std::vector<double> matrix, std::size_t size) {
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix[i * size + j]; };
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::size_t p = 0; p < size; ++p)
      for (std::size_t q = p + 1; q < size; ++q) {
        const double angle = 0.5 * std::atan2(2 * at(p, q), at(q, q) - at(p, p));
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < size; ++k) {
          const double first = at(k, p), second = at(k, q);
          at(k, p) = c * first - s * second;
          at(k, q) = s * first + c * second;
        }
        for (std::size_t k = 0; k < size; ++k) {
          const double first = at(p, k), second = at(q, k);
          at(p, k) = c * first - s * second;
          at(q, k) = s * first + c * second;
        }
      }
  std::vector<double> values;
  for (std::size_t i = 0; i < size; ++i) values.push_back(at(i, i));
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Eigenvalues, agree_with_the_method_of_jacobi_on_random_matrices_that_may_have_many_zeros) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const std::size_t size = 1 + random.below(9);
    std::vector<double> matrix(size * size);
    double square = 0;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        matrix[i * size + j] = matrix[j * size + i] =
            random.below(2) == 0 ? 0 : random.uniform(-2, 3);
    for (const double entry : matrix) square += entry * entry;
    const std::vector<double> values = eigenvalues_from_below(matrix, size);
    const std::vector<double> expected = by_rotations(matrix, size);
    ASSERT_EQ(values.size(), size);
    for (std::size_t k = 0; k < size; ++k)
      EXPECT_NEAR(values[k], expected[k], 1e-13 * static_cast<double>(size) * std::sqrt(square))
          << "round " << round;
  }
}

TEST(Eigenvalues,
     of_a_diagonal_matrix_never_exceed_its_diagonal_entries_and_differ_only_by_rounding) {
  const std::vector<double> values = eigenvalues_from_below({5, 0, 0, 0, -7, 0, 0, 0, 2}, 3);
  const double expected[] = {-7, 2, 5};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_LE(values[k], expected[k]);
    EXPECT_GT(values[k], expected[k] - 3e-13 * 9);
  }
  EXPECT_EQ(eigenvalues_from_below({0, 0, 0, 0}, 2), (std::vector<double>{0, 0}));
  EXPECT_TRUE(eigenvalues_from_below({}, 0).empty());
}

TEST(Eigenvalues, a_matrix_that_is_not_square_is_a_programming_error) {
  EXPECT_DEATH(eigenvalues_from_below({1, 2, 3}, 2), "matrix.size.* does not hold");
}

}  // namespace
}  // namespace poise
