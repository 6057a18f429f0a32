// SPDX-License-Identifier: BSD-3-Clause
// Computes the eigenvalues of a symmetric matrix, each rounded down.
#pragma once

#include <cstddef>
#include <vector>

namespace poise {

/// Returns the eigenvalues in ascending order. `matrix` holds size * size numbers, row by row. Each
/// result is lower than the true eigenvalue by a margin for rounding errors, about 1e-14 * size *
/// norm at most. So sums of results are valid lower bounds. Reduces the matrix to tridiagonal form
/// (Householder), then bisects by Sturm's count. O(size^3).
std::vector<double> eigenvalues_from_below(std::vector<double> matrix, std::size_t size);

}  // namespace poise
