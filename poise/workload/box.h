// SPDX-License-Identifier: BSD-3-Clause
// The nearly cubic grid of a generated workload, with exactly as many points as tasks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace poise {

/// A grid of up to four dimensions, the first coordinate varying fastest. Only the first `size`
/// points exist, so the last rows may be incomplete.
struct Box {
  std::array<std::uint32_t, 4> side{
      1, 1, 1, 1};  // the dimensions in use have ascending sizes; other sizes are 1
  std::uint32_t size = 1;

  std::array<std::uint32_t, 4> point(std::uint32_t id) const {
    std::array<std::uint32_t, 4> at{};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      at[axis] = id % side[axis];
      id /= side[axis];
    }
    return at;
  }
};

/// Returns a box for `size` points in 1 to 4 dimensions. Among the boxes of exactly `size` points,
/// considers the one whose longest side is shortest (the first one found, if there are several),
/// and returns it if its longest side is at most twice its shortest side. Otherwise returns the
/// smallest box that has room for the points and whose sides differ by at most one; its last rows
/// may be incomplete.
Box box_of(std::uint32_t size, std::size_t dims);

}  // namespace poise
