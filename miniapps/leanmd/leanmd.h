// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics like Charm++'s LeanMD. Cells own atoms; compute objects calculate the forces
// between the atoms of two cells. A cell sends positions to its compute objects, receives forces,
// and passes on atoms that left it. The Lennard-Jones potential is shifted so that force and
// potential are zero at the cutoff. A dense slab lies below a thin gas, so cells differ in load.
// Energy and momentum must be conserved.
#pragma once

#include <array>
#include <variant>
#include <vector>

#include "miniapps/program.h"
#include "miniapps/space.h"

#include "poise/base/random.h"

namespace poise::miniapps::leanmd {

constexpr double kCutoff = 2.5, kSpacing = 1.12, kTimeStep = 0.002;
constexpr std::uint32_t kHalf = 14;  // compute objects per cell: 1 for the cell, 13 for neighbours

/// A three-dimensional torus of cells, and the ids of cells and compute objects.
struct Grid {
  std::uint32_t cells = 0;
  double side = 0;  // length of a cell

  std::uint32_t num_cells() const { return cells * cells * cells; }
  double length() const { return cells * side; }
  ObjectId id(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return (z % cells * cells + y % cells) * cells + x % cells;
  }
  /// Returns the neighbour with the number o, from 0 to 26; number 13 is the cell itself.
  ObjectId neighbour(ObjectId cell, std::uint32_t o) const {
    const std::uint32_t step = cells - 1;
    return id(cell % cells + o % 3 + step, cell / cells % cells + o / 3 % 3 + step,
              cell / cells / cells + o / 9 + step);
  }
  /// Returns the id of the compute object for a cell and its neighbour number 13 + half.
  /// neighbour() defines these numbers; number 13 is the cell itself.
  ObjectId compute(ObjectId cell, std::uint32_t half) const {
    return num_cells() + cell * kHalf + half;
  }
  ObjectId cell_of(const Vector& at) const {
    std::array<std::uint32_t, 3> c{};
    for (std::size_t a = 0; a < 3; ++a)
      c[a] = std::min(static_cast<std::uint32_t>(at[a] / side), cells - 1);
    return id(c[0], c[1], c[2]);
  }
};

struct Atom {
  std::uint64_t id = 0;
  Vector at{}, velocity{};
};

struct Cell {
  Grid grid;
  ObjectId id = 0;
  std::uint32_t phase = 0;
  std::vector<Atom> atoms;
  double kinetic = 0, potential = 0;  // only one cell counts the potential of a pair of atoms
  double first_energy = 0;            // kinetic and potential energy at the start
  bool has_first = false;

  void step(const Inbox& inbox, Outbox& outbox) {
    if (phase == 0) publish(inbox, outbox);
    if (phase == 2) integrate(inbox, outbox);
    phase = (phase + 1) % 3;
  }

  void publish(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) {
      const auto arrived = mail.as<std::vector<Atom>>();
      atoms.insert(atoms.end(), arrived.begin(), arrived.end());
    }
    std::sort(atoms.begin(), atoms.end(), [](const Atom& a, const Atom& b) { return a.id < b.id; });
    std::vector<Vector> positions;
    for (const Atom& atom : atoms) positions.push_back(atom.at);
    std::vector<ObjectId> computes;
    for (std::uint32_t half = 0; half < kHalf; ++half) {
      computes.push_back(grid.compute(id, half));
      if (half > 0) computes.push_back(grid.compute(grid.neighbour(id, 13 - half), half));
    }
    outbox.send_to_all(computes, positions);
  }

  void integrate(const Inbox& inbox, Outbox& outbox) {
    std::vector<Vector> forces(atoms.size());
    potential = kinetic = 0;
    for (const Mail& mail : inbox) {
      std::span<const Vector> some;
      double pairs = 0;
      mail.read(pairs, some);
      potential += pairs;
      for (std::size_t i = 0; i < forces.size(); ++i) forces[i] += some[i];
    }
    std::array<std::vector<Atom>, 27> leaving;
    std::vector<Atom> staying;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      Atom& atom = atoms[i];
      for (std::size_t a = 0; a < 3; ++a) {
        const double half_kick = 0.5 * kTimeStep * forces[i][a], now = atom.velocity[a] + half_kick;
        kinetic += 0.5 * now * now;
        atom.velocity[a] = now + half_kick;
        atom.at[a] += kTimeStep * atom.velocity[a];
        if (atom.at[a] < 0) atom.at[a] += grid.length();
        if (atom.at[a] >= grid.length()) atom.at[a] -= grid.length();
      }
      const ObjectId home = grid.cell_of(atom.at);
      if (home == id) {
        staying.push_back(atom);
        continue;
      }
      std::uint32_t o = 0;
      while (grid.neighbour(id, o) != home)
        if (++o == 27) fail("atom {} moved beyond the neighbouring cells in a step", atom.id);
      leaving[o].push_back(atom);
    }
    atoms = std::move(staying);
    for (std::uint32_t o = 0; o < 27; ++o)
      if (!leaving[o].empty()) outbox.send(grid.neighbour(id, o), leaving[o]);
    if (!has_first) first_energy = kinetic + potential;
    has_first = true;
  }

  Vector position() const {
    return {id % grid.cells + 0.5, id / grid.cells % grid.cells + 0.5,
            id / grid.cells / grid.cells + 0.5};
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(grid, id, phase, atoms, kinetic, potential, first_energy, has_first);
  }
};

struct Compute {
  Grid grid;
  ObjectId first = 0, second = 0;  // ids of the two cells; the same id twice for a single cell
  std::uint32_t phase = 0;

  void step(const Inbox& inbox, Outbox& outbox) {
    if (phase == 1) work(inbox, outbox);
    phase = (phase + 1) % 3;
  }

  void work(const Inbox& inbox, Outbox& outbox) const {
    std::span<const Vector> a, b;
    for (const Mail& mail : inbox) mail.read(mail.from() == first ? a : b);
    if (first == second) b = a;
    std::vector<Vector> on_a(a.size()), on_b(b.size());
    double potential = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = first == second ? i + 1 : 0; j < b.size(); ++j)
        potential += interact(a[i], b[j], on_a[i], on_b[j]);
    if (first == second)
      for (std::size_t i = 0; i < a.size(); ++i) on_a[i] += on_b[i];
    outbox.send(first, potential, on_a);
    if (first != second) outbox.send(second, 0.0, on_b);
  }

  /// Adds the forces between two atoms and returns their potential.
  double interact(const Vector& p, const Vector& q, Vector& on_p, Vector& on_q) const {
    Vector d = p - q;
    for (double& side : d) {
      if (side > grid.length() / 2) side -= grid.length();
      if (side < -grid.length() / 2) side += grid.length();
    }
    const double square = dot(d, d);
    if (square >= kCutoff * kCutoff) return 0;
    constexpr double c2 = 1 / (kCutoff * kCutoff), c6 = c2 * c2 * c2;
    constexpr double force_at_cutoff = (48 * c6 * c6 - 24 * c6) / kCutoff;
    constexpr double potential_at_cutoff = 4 * (c6 * c6 - c6);
    const double distance = std::sqrt(square), r6 = 1 / (square * square * square);
    const double force = (48 * r6 * r6 - 24 * r6) / distance - force_at_cutoff;
    for (std::size_t a = 0; a < 3; ++a) {
      on_p[a] += force / distance * d[a];
      on_q[a] -= force / distance * d[a];
    }
    return 4 * (r6 * r6 - r6) - potential_at_cutoff + (distance - kCutoff) * force_at_cutoff;
  }

  Vector position() const { return Cell{.grid = grid, .id = first, .atoms = {}}.position(); }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(grid, first, second, phase);
  }
};

struct Body {
  std::variant<Cell, Compute> is;
  void step(const Inbox& inbox, Outbox& outbox) {
    std::visit([&](auto& body) { body.step(inbox, outbox); }, is);
  }
  Vector position() const {
    return std::visit([](const auto& body) { return body.position(); }, is);
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(is);
  }
};

/// Creates a cell with atoms on a lattice: on every lattice point in the lower half of the box, and
/// on one in eight in the upper half.
inline Cell make_cell(const Grid& grid, ObjectId id, std::uint32_t lattice) {
  Cell cell{.grid = grid, .id = id, .atoms = {}};
  const std::uint32_t x = id % grid.cells, y = id / grid.cells % grid.cells,
                      z = id / grid.cells / grid.cells;
  const std::uint32_t stride = 2 * z < grid.cells ? 1 : 2;
  for (std::uint32_t k = 0; k < lattice; k += stride)
    for (std::uint32_t j = 0; j < lattice; j += stride)
      for (std::uint32_t i = 0; i < lattice; i += stride) {
        Atom atom;
        atom.id = ((std::uint64_t{id} * lattice + k) * lattice + j) * lattice + i;
        Random random(mix(atom.id + 1));
        atom.at = {x * grid.side + (i + 0.5) * kSpacing, y * grid.side + (j + 0.5) * kSpacing,
                   z * grid.side + (k + 0.5) * kSpacing};
        for (double& v : atom.velocity) v = 0.3 * random.normal();
        cell.atoms.push_back(atom);
      }
  return cell;
}

inline Body make_body(const Grid& grid, ObjectId id, std::uint32_t lattice) {
  if (id < grid.num_cells()) return {make_cell(grid, id, lattice)};
  const ObjectId cell = (id - grid.num_cells()) / kHalf, half = (id - grid.num_cells()) % kHalf;
  return {Compute{grid, cell, grid.neighbour(cell, 13 + half)}};
}

/// Sums over all cells, with which the results are checked: energy, momentum and atom positions.
struct Sums {
  double first_energy = 0, energy = 0, checksum = 0;
  Vector momentum{};
  Sums& operator+=(const Sums& other) {
    first_energy += other.first_energy;
    energy += other.energy;
    checksum += other.checksum;
    momentum += other.momentum;
    return *this;
  }
};

inline Sums sums_of(const Body& body) {
  Sums sums;
  const Cell* cell = std::get_if<Cell>(&body.is);
  if (cell == nullptr) return sums;
  sums.first_energy = cell->first_energy;
  sums.energy = cell->kinetic + cell->potential;
  for (const Atom& atom : cell->atoms) {
    sums.momentum += atom.velocity;
    for (const double coordinate : atom.at) sums.checksum += coordinate;
  }
  return sums;
}

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "leanmd";
  static constexpr const char* kSummary =
      "Molecular dynamics: atoms in cells, and computes for pairs of cells.";
  std::uint64_t iterations = 30;
  std::uint32_t cells = 4, lattice = 4;

  void add_options(Arguments& arguments) {
    arguments.add("--cells", cells, "cells per axis", 3, 100);
    arguments.add("--lattice", lattice, "atoms per axis of a dense cell", 3, 20);
  }
  void prepare() const {
    if (grid().side < kCutoff)
      fail("--lattice {}: cells would be smaller than the cutoff; use a larger number", lattice);
  }
  Grid grid() const { return {cells, lattice * kSpacing}; }
  ObjectId num_objects() const { return grid().num_cells() * (1 + kHalf); }
  std::uint64_t steps() const { return 3 * iterations; }
  std::uint32_t subphase_of(std::uint64_t step) const { return step % 3; }
  Body object(ObjectId id) const { return make_body(grid(), id, lattice); }
  Sums sum_of(const Body& body) const { return sums_of(body); }
  double checksum(const Sums& sums) const { return sums.checksum; }
  void check(const Sums& before, const Sums& after) const {
    fmt::print("energy {:.6f} at first, {:.6f} at last\n", after.first_energy, after.energy);
    if (std::fabs(after.energy - after.first_energy) > 1e-3 * std::fabs(after.first_energy))
      fail("the energy changed from {:.6g} to {:.6g}; it may change by at most a thousandth",
           after.first_energy, after.energy);
    for (std::size_t a = 0; a < 3; ++a)
      if (std::fabs(after.momentum[a] - before.momentum[a]) > 1e-9 * std::fabs(after.energy))
        fail("the total momentum changed by more than the tolerance, 1e-9 times the energy");
  }
};

}  // namespace poise::miniapps::leanmd
