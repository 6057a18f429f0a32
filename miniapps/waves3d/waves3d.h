// SPDX-License-Identifier: BSD-3-Clause
// Sound waves in a box of blocks, like Ondes3D: a pulse over a basin of slow sound, a wall on top,
// and absorbing layers on the other five sides. Blocks that touch those layers split the pressure
// into three parts, so they are heavier. Without such layers, the energy must be constant.
//
// Staggered leapfrog after Yee, 1966; absorbing layers after Berenger, 1994. Lengths are in cells;
// the unit of time is the time that sound takes through a cell. Each array has a ghost layer per
// axis: the pressure array ends with the upper neighbour's first layer, and the velocity array
// begins with the lower neighbour's last layer. A velocity belongs to the lower face of its cell.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "miniapps/program.h"

namespace poise::miniapps::waves3d {

constexpr double kTimeStep = 0.5;         // stable below 1/√3
constexpr double kReflection = 9.210340;  // -ln(R), where layers reflect R = 1e-4 of an amplitude

struct Grid {
  std::uint32_t blocks = 6;   // per axis
  std::uint32_t points = 12;  // cells per axis of a block
  std::uint32_t layer = 8;    // thickness of the absorbing layers, in cells

  double side() const { return static_cast<double>(blocks) * points; }
  /// Damping at a position along an axis. It is 0 at the upper end of the last axis, which is a
  /// wall.
  double damping(std::size_t axis, double position) const {
    double depth = layer - position;
    if (axis != 2) depth = std::max(depth, position - (side() - layer));
    if (layer == 0 || depth <= 0) return 0;
    const double share = depth / layer;
    return 1.5 * kReflection / layer * share * share;
  }
};

/// Coefficients of a time step: new value = keep * old value - gain * difference. For a velocity,
/// the difference is between two pressures; for a pressure, between two velocities.
struct Damping {
  double keep = 1, gain = kTimeStep;
};

struct Block {
  using Place = std::array<std::uint32_t, 3>;
  Grid grid;
  Place place{};
  // Indices of the current step and of the run's last step. Odd steps update velocities, even steps
  // pressures.
  std::uint64_t now = 0, last = 0;
  std::vector<double> pressure;
  // `part` has the parts of the pressure if the block touches an absorbing layer, else is empty.
  std::array<std::vector<double>, 3> velocity, part;
  double first_energy = 0, energy = 0;
  // work_out() computes the members below from those above.
  std::vector<double> stiffness;
  std::array<std::vector<Damping>, 3> at_cell, at_face;

  Block() = default;
  Block(ObjectId id, const Grid& of, std::uint64_t last_step) : grid(of), last(last_step) {
    for (std::uint32_t& coordinate : place) {
      coordinate = id % grid.blocks;
      id /= grid.blocks;
    }
    const std::size_t n = grid.points + 1;
    pressure.assign(n * n * n, 0);
    velocity.fill(pressure);
    work_out();
    const double reach = grid.side() / 6;
    for_each_cell([&](std::size_t q, const Place& cell) {
      const double share = 1 - square_to(cell, 0.4, 0.5, 0.7) / (reach * reach);
      if (share > 0) pressure[q] = share * share;
    });
    if (is_absorbing()) part.fill(pressure);
    for (std::vector<double>& p : part)
      for (double& value : p) value /= 3;
  }

  bool is_absorbing() const {
    for (std::size_t a = 0; a < 3; ++a)
      for (const std::uint32_t end : {0U, grid.points})
        if (grid.damping(a, double{1} * place[a] * grid.points + end) > 0) return true;
    return false;
  }
  std::size_t stride(std::size_t axis) const {
    const std::size_t n = grid.points + 1;
    return axis == 0 ? 1 : axis == 1 ? n : n * n;
  }
  /// Squared distance from a cell to a point (x, y, z), given as fractions of the box.
  double square_to(const Place& cell, double x, double y, double z) const {
    const std::array<double, 3> at{x * grid.side(), y * grid.side(), z * grid.side()};
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = static_cast<double>(place[a]) * grid.points + cell[a] + 0.5 - at[a];
      sum += d * d;
    }
    return sum;
  }

  template <typename Visit>
  void for_each_cell(Visit visit) const {
    for (std::uint32_t z = 0; z < grid.points; ++z)
      for (std::uint32_t y = 0; y < grid.points; ++y) {
        const std::size_t row = z * stride(2) + y * stride(1);
        for (std::uint32_t x = 0; x < grid.points; ++x) visit(row + x, Place{x, y, z});
      }
  }

  void work_out() {
    stiffness.assign(pressure.size(), 1);
    const double basin = grid.side() / 3;
    for_each_cell([&](std::size_t q, const Place& cell) {
      if (square_to(cell, 0.5, 0.5, 1) < basin * basin) stiffness[q] = 0.25;
    });
    const auto damping = [&](std::size_t axis, double position) {
      const double half = 0.5 * kTimeStep * grid.damping(axis, position);
      return Damping{(1 - half) / (1 + half), kTimeStep / (1 + half)};
    };
    for (std::size_t a = 0; a < 3; ++a)
      for (std::uint32_t i = 0; i <= grid.points; ++i) {
        const double begin = static_cast<double>(place[a]) * grid.points + i;
        at_cell[a].push_back(damping(a, begin + 0.5));
        at_face[a].push_back(damping(a, begin));
      }
  }

  void step(const Inbox& inbox, Outbox& outbox) {
    const bool moves = now % 2 == 1;
    for (const Mail& mail : inbox) {
      std::uint32_t axis = 0;
      std::span<const double> face;
      mail.read(axis, face);
      std::vector<double>& values = moves ? pressure : velocity[axis];
      std::size_t i = 0;
      for_each_of_layer(axis, moves ? grid.points : 0,
                        [&](std::size_t q) { values[q] = face[i++]; });
    }
    if (moves) move();
    if (!moves && now > 0) squeeze();
    ObjectId apart = 1, id = (place[2] * grid.blocks + place[1]) * grid.blocks + place[0];
    for (std::uint32_t a = 0; a < 3; ++a, apart *= grid.blocks) {
      if (!moves && place[a] > 0) outbox.send(id - apart, a, layer(a, 0, pressure));
      if (moves && place[a] + 1 < grid.blocks)
        outbox.send(id + apart, a, layer(a, grid.points, velocity[a]));
    }
    ++now;
  }

  template <typename Visit>
  void for_each_of_layer(std::size_t axis, std::size_t number, Visit visit) const {
    const std::size_t u = stride(axis == 0 ? 1 : 0), v = stride(axis == 2 ? 1 : 2);
    for (std::size_t j = 0; j < grid.points; ++j)
      for (std::size_t i = 0; i < grid.points; ++i) visit(number * stride(axis) + j * v + i * u);
  }
  std::vector<double> layer(std::size_t axis, std::size_t number,
                            const std::vector<double>& values) const {
    std::vector<double> face;
    face.reserve(std::size_t{grid.points} * grid.points);
    for_each_of_layer(axis, number, [&](std::size_t q) { face.push_back(values[q]); });
    return face;
  }

  /// Updates the velocities on the upper faces of the cells.
  void move() {
    const bool is_absorbing = !part[0].empty();
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t up = stride(a);
      double* v = velocity[a].data();
      const double* p = pressure.data();
      const Damping* face = at_face[a].data();
      if (is_absorbing)
        for_each_cell([=](std::size_t q, const Place& cell) {
          const Damping& d = face[cell[a] + 1];
          v[q + up] = d.keep * v[q + up] - d.gain * (p[q + up] - p[q]);
        });
      else
        for_each_cell(
            [=](std::size_t q, const Place&) { v[q + up] -= kTimeStep * (p[q + up] - p[q]); });
      if (place[a] + 1 == grid.blocks)
        for_each_of_layer(a, grid.points, [=](std::size_t q) { v[q] = 0; });
    }
  }

  /// Updates the pressures.
  void squeeze() {
    std::vector<double> before;
    if (now == 2 || now == last) before = pressure;
    const double *vx = velocity[0].data(), *vy = velocity[1].data(), *vz = velocity[2].data();
    const double* k = stiffness.data();
    double* p = pressure.data();
    const std::size_t row = stride(1), plane = stride(2);
    if (part[0].empty())
      for_each_cell([=](std::size_t q, const Place&) {
        p[q] -= kTimeStep * k[q] *
                ((vx[q + 1] - vx[q]) + (vy[q + row] - vy[q]) + (vz[q + plane] - vz[q]));
      });
    else
      squeeze_parts();
    if (before.empty()) return;
    energy = energy_since(before);
    if (now == 2) first_energy = energy;
  }

  void squeeze_parts() {
    std::fill(pressure.begin(), pressure.end(), 0);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t up = stride(a);
      const double *v = velocity[a].data(), *k = stiffness.data();
      const Damping* at = at_cell[a].data();
      double *p = pressure.data(), *own = part[a].data();
      for_each_cell([=](std::size_t q, const Place& cell) {
        const Damping& d = at[cell[a]];
        own[q] = d.keep * own[q] - d.gain * k[q] * (v[q + up] - v[q]);
        p[q] += own[q];
      });
    }
  }

  /// The energy in the form that leapfrog conserves, from the pressures before and after the step.
  double energy_since(const std::vector<double>& before) const {
    double sum = 0;
    for_each_cell([&](std::size_t q, const Place&) {
      sum += before[q] * pressure[q] / stiffness[q];
      for (std::size_t a = 0; a < 3; ++a)
        sum += velocity[a][q + stride(a)] * velocity[a][q + stride(a)];
    });
    return 0.5 * sum;
  }

  std::array<double, 3> position() const {
    return {place[0] + 0.5, place[1] + 0.5, place[2] + 0.5};
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(grid, place, now, last, pressure, velocity, part, first_energy, energy);
    if constexpr (Archive::is_loading) work_out();
  }
};

struct Sums {
  double first_energy = 0, energy = 0, squares = 0;
  double heard = 0;  // pressure at the receiver
  Sums& operator+=(const Sums& other) {
    first_energy += other.first_energy;
    energy += other.energy;
    squares += other.squares;
    heard += other.heard;
    return *this;
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "waves3d";
  static constexpr const char* kSummary =
      "Sound waves in a box in blocks; those at absorbing sides are heavier.";
  Grid grid;
  std::uint64_t iterations = 100;

  void add_options(Arguments& arguments) {
    arguments.add("--blocks", grid.blocks, "blocks per axis", 1, 200);
    arguments.add("--points", grid.points, "cells per axis of a block", 1, 500);
    arguments.add("--layer", grid.layer, "thickness in cells of the absorbing layers; 0: none", 0,
                  1000);
  }
  ObjectId num_objects() const { return grid.blocks * grid.blocks * grid.blocks; }
  std::uint64_t steps() const { return 2 * iterations + 1; }
  std::uint32_t subphase_of(std::uint64_t step) const { return step % 2; }
  Block object(ObjectId id) const { return Block(id, grid, 2 * iterations); }
  Sums sum_of(const Block& block) const {
    Sums sums{block.first_energy, block.energy, 0, 0};
    block.for_each_cell([&](std::size_t q, const Block::Place& cell) {
      sums.squares += block.pressure[q] * block.pressure[q];
      if (block.square_to(cell, 0.75, 0.4, 0.9) < 0.75) sums.heard += block.pressure[q];
    });
    return sums;
  }
  double checksum(const Sums& sums) const { return sums.squares; }
  void check(const Sums&, const Sums& last) const {
    fmt::print("energy {:.15g} at first, {:.15g} at last; receiver at {:.15g}\n", last.first_energy,
               last.energy, last.heard);
    const double change = last.energy / last.first_energy - 1;
    if (grid.layer == 0 && !(std::fabs(change) < 1e-10))
      fail("the relative change of the energy is {:.1e}; it must be below 1e-10", change);
    if (!(change < 1e-10))
      fail("the relative growth of the energy is {:.1e}; rounding causes at most 1e-10", change);
  }
};

}  // namespace poise::miniapps::waves3d
