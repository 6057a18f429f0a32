// The grid that generated tasks fill: near-cubic, with exactly as many tasks as asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace poise {

/// A grid of up to four dimensions, numbered with the first coordinate fastest; only the first
/// `size` points of it exist, so the last rows may be missing.
struct Box {
  std::array<std::uint32_t, 4> side{1, 1, 1, 1};  // ascending over the dimensions in use
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

/// A box of `size` points: the full one with the shortest longest side if that is at most twice the
/// shortest, else the smallest with sides that differ by one at most, its last rows missing.
Box box_of(std::uint32_t size, std::size_t dims);

}  // namespace poise
