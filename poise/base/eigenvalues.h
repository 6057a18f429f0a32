// The eigenvalues of a symmetric matrix, none above the true one.
#pragma once

#include <cstddef>
#include <vector>

namespace poise {

/// Ascending; `matrix` holds size * size numbers. Each is the true one less no more than rounding
/// may have added, some 1e-15 * size of the matrix's norm: what builds on them as lower bounds
/// stays sound. Householder's reduction to three diagonals, then bisection by Sturm's count.
/// O(size^3).
std::vector<double> eigenvalues_from_below(std::vector<double> matrix, std::size_t size);

}  // namespace poise
