// SPDX-License-Identifier: BSD-3-Clause
// Jacobi's method on a square with a hot edge, in blocks: every point becomes the mean of its four
// neighbours. The result must equal that of a serial loop over the whole grid, bit for bit.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "miniapps/program.h"

namespace poise::miniapps::jacobi2d {

enum Side : std::uint8_t { kLeft, kRight, kUp, kDown };

/// n x n points with a frame of ghost points. The upper edge of the whole square has the value 1.
struct Block {
  std::uint32_t x = 0, y = 0, blocks = 0, n = 0;
  bool has_begun = false;
  std::vector<double> values, next;

  Block() = default;
  Block(ObjectId id, std::uint32_t num_blocks, std::uint32_t points)
      : x(id % num_blocks),
        y(id / num_blocks),
        blocks(num_blocks),
        n(points),
        values(std::size_t{n + 2} * (n + 2)),
        next(values) {
    for (std::uint32_t i = 0; y == 0 && i < n + 2; ++i) values[i] = next[i] = 1;
  }

  std::size_t at(std::uint32_t row, std::uint32_t column) const {
    return std::size_t{row} * (n + 2) + column;
  }

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) receive(mail);
    if (has_begun) relax();
    has_begun = true;
    if (x > 0) send(outbox, y * blocks + x - 1, kRight, 1, 1, n + 2);
    if (x + 1 < blocks) send(outbox, y * blocks + x + 1, kLeft, 1, n, n + 2);
    if (y > 0) send(outbox, (y - 1) * blocks + x, kDown, 1, 1, 1);
    if (y + 1 < blocks) send(outbox, (y + 1) * blocks + x, kUp, n, 1, 1);
  }

  /// Sends n points to the neighbour `to`, beginning at (row, column); `stride` is the distance
  /// between consecutive points in `values`. The neighbour stores them as its ghost points on the
  /// side `side`.
  void send(Outbox& outbox, ObjectId to, Side side, std::uint32_t row, std::uint32_t column,
            std::size_t stride) const {
    std::vector<double> edge(n);
    for (std::size_t i = 0; i < n; ++i) edge[i] = values[at(row, column) + i * stride];
    outbox.send(to, side, edge);
  }

  void receive(const Mail& mail) {
    Side side{};
    std::span<const double> edge;
    mail.read(side, edge);
    const std::size_t first = side == kLeft    ? at(1, 0)
                              : side == kRight ? at(1, n + 1)
                              : side == kUp    ? at(0, 1)
                                               : at(n + 1, 1);
    const std::size_t stride = side == kLeft || side == kRight ? n + 2 : 1;
    for (std::size_t i = 0; i < n; ++i) values[first + i * stride] = edge[i];
  }

  void relax() {
    for (std::uint32_t row = 1; row <= n; ++row)
      for (std::size_t p = at(row, 1); p <= at(row, n); ++p)
        next[p] =
            0.25 * ((values[p - 1] + values[p + 1]) + (values[p - n - 2] + values[p + n + 2]));
    /// The arrays may be swapped: both contain the hot edge, and messages renew all other ghost
    /// points.
    std::swap(values, next);
  }

  double sum() const {
    double total = 0;
    for (std::uint32_t row = 1; row <= n; ++row)
      for (std::uint32_t column = 1; column <= n; ++column) total += values[at(row, column)];
    return total;
  }

  /// Returns the memory whose pages move if the block migrates to another NUMA domain.
  std::vector<std::span<std::byte>> memory() {
    return {std::as_writable_bytes(std::span(values)), std::as_writable_bytes(std::span(next))};
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(x, y, blocks, n, has_begun, values);
    if constexpr (Archive::is_loading) next = values;
  }
};

/// Computes the sum of all values by a serial loop over the whole grid. Like the program, it adds
/// up each block first, so that rounding is the same.
inline double serial_sum(std::uint32_t blocks, std::uint32_t points, std::uint64_t steps) {
  const std::size_t n = std::size_t{blocks} * points, row = n + 2;
  std::vector<double> values(row * row), next;
  std::fill_n(values.begin(), row, 1.0);
  next = values;
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 1; i <= n; ++i)
      for (std::size_t p = i * row + 1; p <= i * row + n; ++p)
        next[p] = 0.25 * ((values[p - 1] + values[p + 1]) + (values[p - row] + values[p + row]));
    std::swap(values, next);
  }
  double total = 0;
  for (std::size_t id = 0; id < std::size_t{blocks} * blocks; ++id) {
    double sum = 0;
    const std::size_t first = 1 + id / blocks * points;
    const std::size_t left = 1 + id % blocks * points;
    for (std::size_t i = first; i < first + points; ++i)
      for (std::size_t j = left; j < left + points; ++j) sum += values[i * row + j];
    total += sum;
  }
  return total;
}

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "jacobi2d";
  static constexpr const char* kSummary =
      "Jacobi's method on a square grid in blocks, checked against a serial loop.";
  std::uint64_t iterations = 100;
  std::uint32_t blocks = 8;   // number of blocks per side of the square
  std::uint32_t points = 64;  // number of points per side of a block

  void add_options(Arguments& arguments) {
    arguments.add("--blocks", blocks, "blocks per side of the square", 1, 1000);
    arguments.add("--points", points, "points per side of a block", 1, 10000);
  }
  ObjectId num_objects() const { return blocks * blocks; }
  std::uint64_t steps() const { return iterations + 1; }
  Block object(ObjectId id) const { return Block(id, blocks, points); }
  double sum_of(const Block& block) const { return block.sum(); }
  double checksum(double sum) const { return sum; }
  void check(double, double sum) const {
    const double expected = serial_sum(blocks, points, iterations);
    if (sum != expected)
      fail("the sum of all values is {:.17g}; it must be {:.17g}, as in a serial loop", sum,
           expected);
  }
};

}  // namespace poise::miniapps::jacobi2d
