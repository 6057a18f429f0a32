// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/box.h"

#include <algorithm>

#include "poise/base/check.h"

namespace poise {

namespace {

std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

std::uint32_t root_below(std::uint32_t size, std::size_t dims) {
  std::uint32_t side = 1;
  while (power(side + 1, dims) <= size) ++side;
  return side;
}

/// Tries all boxes with these properties: the sides before dimension `axis` are those of `tried`,
/// the product of the other sides is `rest`, and no side is shorter than the one before it. A tried
/// box becomes `best` if its longest side is shorter than that of `best`.
void split_exactly(std::uint32_t rest, std::size_t axis, std::size_t dims, Box& tried, Box& best) {
  const std::uint32_t least = axis == 0 ? 1 : tried.side[axis - 1];
  if (axis + 1 == dims) {
    tried.side[axis] = rest;
    if (rest >= least && rest < best.side[axis]) best = tried;
    return;
  }
  for (std::uint32_t side = least; power(side, dims - axis) <= rest; ++side) {
    if (rest % side != 0) continue;
    tried.side[axis] = side;
    split_exactly(rest / side, axis + 1, dims, tried, best);
  }
}

}  // namespace

Box box_of(std::uint32_t size, std::size_t dims) {
  Box exact, tried;
  POISE_CHECK(dims > 0 && dims <= exact.side.size());
  exact.size = tried.size = size;
  exact.side[dims - 1] = size;
  split_exactly(size, 0, dims, tried, exact);
  if (exact.side[dims - 1] <= std::uint64_t{2} * exact.side[0]) return exact;

  Box ragged;
  ragged.size = size;
  const std::uint32_t side = root_below(size, dims);
  std::fill_n(ragged.side.begin(), dims, side);
  std::uint64_t points = power(side, dims);
  for (std::size_t axis = dims; points < size; --axis) {
    points = points / side * (side + 1);
    ++ragged.side[axis - 1];
  }
  return ragged;
}

}  // namespace poise
