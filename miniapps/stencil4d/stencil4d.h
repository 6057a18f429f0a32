// SPDX-License-Identifier: BSD-3-Clause
// A field on a four-dimensional torus in blocks, as in lattice QCD. Every point relaxes towards its
// eight neighbours; then a local reaction is integrated. Where the reaction is stiff, this takes
// more time steps, so some blocks are heavier. The result does not depend on the placement.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "miniapps/program.h"

namespace poise::miniapps::stencil4d {

using Point = std::array<std::uint32_t, 4>;

/// n^4 points; the first coordinate varies fastest.
struct Block {
  Point place{};
  std::uint32_t blocks = 0, n = 0, substeps = 1;
  bool has_begun = false;
  std::vector<double> values;
  /// The faces received from neighbours: at 2 * axis from the lower neighbour along this axis, and
  /// at 2 * axis + 1 from the upper one.
  std::array<std::vector<double>, 8> faces;

  Block() = default;
  Block(ObjectId id, std::uint32_t num_blocks, std::uint32_t points, std::uint32_t stiff)
      : blocks(num_blocks), n(points) {
    for (std::uint32_t& coordinate : place) {
      coordinate = id % blocks;
      id /= blocks;
    }
    // The reaction is stiffest at a quarter of the length of the last axis.
    const double distance = (place[3] + 0.5) / blocks - 0.25;
    substeps = 1 + static_cast<std::uint32_t>(stiff / (1 + 60 * distance * distance));
    values.resize(std::size_t{n} * n * n * n);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(
                      (i * 37 + place[0] * 11 + place[1] * 7 + place[2] * 5 + place[3] * 3) % 101) /
                  101;
  }

  std::size_t stride(std::size_t axis) const {
    std::size_t result = 1;
    for (std::size_t a = 0; a < axis; ++a) result *= n;
    return result;
  }

  ObjectId neighbour(std::size_t axis, std::uint32_t ahead) const {
    Point at = place;
    at[axis] = (at[axis] + ahead) % blocks;
    return ((at[3] * blocks + at[2]) * blocks + at[1]) * blocks + at[0];
  }

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) {
      std::uint32_t side = 0;
      std::span<const double> face;
      mail.read(side, face);
      faces[side].assign(face.begin(), face.end());
    }
    if (has_begun) {
      relax();
      react();
    }
    has_begun = true;
    for (std::uint32_t axis = 0; axis < 4; ++axis) {
      outbox.send(neighbour(axis, blocks - 1), 2 * axis + 1, face(axis, 0));
      outbox.send(neighbour(axis, 1), 2 * axis, face(axis, n - 1));
    }
  }

  std::vector<double> face(std::size_t axis, std::uint32_t layer) const {
    std::vector<double> result;
    const std::size_t inner = stride(axis);
    for (std::size_t outer = 0; outer < values.size(); outer += inner * n)
      for (std::size_t i = 0; i < inner; ++i) result.push_back(values[outer + layer * inner + i]);
    return result;
  }

  void relax() {
    std::vector<double> sums(values.size());
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const std::size_t inner = stride(axis);
      for (std::size_t outer = 0; outer < values.size(); outer += inner * n)
        for (std::size_t layer = 0; layer < n; ++layer)
          for (std::size_t i = 0; i < inner; ++i) {
            const std::size_t p = outer + layer * inner + i, f = outer / n + i;
            const double below = layer > 0 ? values[p - inner] : faces[2 * axis][f];
            const double above = layer + 1 < n ? values[p + inner] : faces[2 * axis + 1][f];
            sums[p] += below + above;
          }
    }
    for (std::size_t p = 0; p < values.size(); ++p) values[p] = 0.5 * values[p] + sums[p] / 16;
  }

  /// Applies the reaction u' = u (1 - u) (u - 0.4) to all points.
  void react() {
    const double dt = 0.5 / substeps;
    for (double& u : values)
      for (std::uint32_t s = 0; s < substeps; ++s) u += dt * u * (1 - u) * (u - 0.4);
  }

  double sum() const {
    double total = 0;
    for (const double value : values) total += value;
    return total;
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(place, blocks, n, substeps, has_begun, values);
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "stencil4d";
  static constexpr const char* kSummary =
      "A reacting field on a 4-D torus in blocks, some of which are stiff and so heavier.";
  std::uint64_t iterations = 40;
  std::uint32_t blocks = 4, points = 6, stiff = 24;

  void add_options(Arguments& arguments) {
    arguments.add("--blocks", blocks, "blocks per axis", 1, 64);
    arguments.add("--points", points, "points per axis of a block", 1, 100);
    arguments.add("--stiff", stiff, "extra time steps where the reaction is stiffest", 0, 100000);
  }
  ObjectId num_objects() const { return blocks * blocks * blocks * blocks; }
  std::uint64_t steps() const { return iterations + 1; }
  Block object(ObjectId id) const { return Block(id, blocks, points, stiff); }
  double sum_of(const Block& block) const { return block.sum(); }
  double checksum(double sum) const { return sum; }
};

}  // namespace poise::miniapps::stencil4d
