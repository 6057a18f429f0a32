// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "poise/base/check.h"

namespace poise {

namespace {

struct ThreeDiagonals {
  // A symmetric tridiagonal matrix: middle[i] is the entry in row i, column i; beside[i] is the
  // entry in row i, column i + 1.
  std::vector<double> middle, beside;
};

/// Multiplies the matrix from both sides by the Householder reflection that makes column k zero
/// below row k + 1. This keeps the eigenvalues. Because the matrix is symmetric, its rows are read
/// in place of its columns.
void reflect(std::span<double> matrix, std::size_t size, std::size_t k, double length,
             std::vector<double>& mirror, std::vector<double>& image) {
  const std::size_t first = k + 1;
  mirror.assign(size, 0);
  image.assign(size, 0);
  std::copy_n(matrix.begin() + (k * size + first), size - first, mirror.begin() + first);
  mirror[first] += mirror[first] < 0 ? -length : length;
  double square = 0, product = 0;
  for (std::size_t i = first; i < size; ++i) square += mirror[i] * mirror[i];
  for (std::size_t j = first; j < size; ++j)
    for (std::size_t i = first; i < size; ++i) image[i] += matrix[j * size + i] * mirror[j];
  for (std::size_t i = first; i < size; ++i) {
    image[i] *= 2 / square;
    product += image[i] * mirror[i];
  }
  for (std::size_t i = first; i < size; ++i) image[i] -= product / square * mirror[i];
  for (std::size_t j = first; j < size; ++j)
    for (std::size_t i = first; i < size; ++i)
      matrix[j * size + i] -= mirror[j] * image[i] + image[j] * mirror[i];
}

ThreeDiagonals reduced(std::vector<double> matrix, std::size_t size) {
  ThreeDiagonals three{std::vector<double>(size), std::vector<double>(size)};
  std::vector<double> mirror, image;
  for (std::size_t k = 0; k < size; ++k) {
    three.middle[k] = matrix[k * size + k];
    double square = 0;
    for (std::size_t i = k + 1; i < size; ++i)
      square += matrix[k * size + i] * matrix[k * size + i];
    three.beside[k] = std::sqrt(square);  // the sign of this entry does not affect the eigenvalues
    if (k + 2 < size && square > 0) reflect(matrix, size, k, three.beside[k], mirror, image);
  }
  return three;
}

/// Returns the number of eigenvalues below x, which is the number of negative pivots of (matrix - x
/// I) by Sturm's theorem.
std::size_t number_below(const ThreeDiagonals& three, double x) {
  std::size_t below = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < three.middle.size(); ++i) {
    const double joined = i == 0 ? 0 : three.beside[i - 1];
    pivot = three.middle[i] - x - joined * joined / pivot;
    if (pivot == 0) pivot = -std::numeric_limits<double>::min();
    below += pivot < 0;
  }
  return below;
}

}  // namespace

std::vector<double> eigenvalues_from_below(std::vector<double> matrix, std::size_t size) {
  POISE_CHECK(matrix.size() == size * size);
  constexpr int kHalvings = 50;
  double square = 0;
  for (const double entry : matrix) square += entry * entry;
  const double norm = std::sqrt(square);
  const double rounding = 16 * std::numeric_limits<double>::epsilon() * size * norm;
  const ThreeDiagonals three = reduced(std::move(matrix), size);
  std::vector<double> values(size);
  double below = -norm;  // all eigenvalues lie within [-norm, norm]
  for (std::size_t k = 0; k < size; ++k) {
    double low = below, high = norm;
    for (int i = 0; i < kHalvings && high - low > rounding; ++i) {
      const double middle = low + (high - low) / 2;
      (number_below(three, middle) <= k ? low : high) = middle;
    }
    below = low;
    values[k] = low - rounding;
  }
  return values;
}

}  // namespace poise
