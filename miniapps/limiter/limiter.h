// SPDX-License-Identifier: BSD-3-Clause
// Gas that explodes between two walls (Woodward and Colella, 1984), like ADER-DG in sam(oa)²: every
// cell first computes a candidate with polynomials of degree four; where the candidate is not
// credible, the cell is recomputed in nine subcells. So the cost of a cell is known only
// afterwards.
//
// At the beginning of an iteration, each cell predicts its flow over the step by a local
// fixed-point iteration (Dumbser, Enaux and Toro, 2008). Then there are two exchanges with the
// neighbours. The first sends the predicted flow, from which candidates are computed. The second
// tells which candidates were rejected, so that both sides of a face use the same flux and mass is
// conserved (Dumbser et al., "A posteriori subcell limiting of the discontinuous Galerkin finite
// element method", 2014; Clain, Diot and Loubère, 2011).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "miniapps/limiter/cell.h"
#include "miniapps/program.h"

namespace poise::miniapps::limiter {

constexpr double kCourant = 0.7 / kParts;

struct Settings {
  std::uint32_t pieces = 32;  // number of pieces of the tube
  std::uint32_t cells = 16;   // number of cells per piece
  bool is_smooth = false;     // a smooth periodic wave instead of an explosion

  double length() const { return 1.0 / (double{1} * pieces * cells); }
  /// Returns an upper bound of the signal speed, from which the time step follows.
  double fastest() const { return is_smooth ? 3 : 60; }
  double time_step() const { return kCourant * length() / fastest(); }

  State at(double x) const {
    if (!is_smooth) return gas(1, 0, x < 0.1 ? 1000 : x > 0.9 ? 100 : 0.01);
    x -= std::floor(x);
    const double hill = 4 * x * (1 - x), square = hill * hill;
    return gas(1 + 0.5 * square * square, 1, 1);
  }
};

/// A piece of the tube: consecutive cells.
struct Piece {
  Settings settings;
  ObjectId id = 0;
  std::uint64_t now = 0;  // step number; even: predicts the flow, odd: computes candidate states
  std::uint64_t iterations = 0, refusals = 0;
  std::vector<Cell> cells;
  std::array<Side, 2> beyond;  // the adjacent cells of the two neighbouring pieces

  Piece() = default;
  Piece(ObjectId of, const Settings& in) : settings(in), id(of), cells(in.cells) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (std::size_t i = 0; i < kNodes; ++i)
        cells[c].values[i] = settings.at(position(c, in.is_smooth ? kScheme.node[i] : 0.5));
  }

  double position(std::size_t cell, double within) const {
    return settings.length() * (double{1} * id * settings.cells + cell + within);
  }
  double steps_per_length() const { return settings.time_step() / settings.length(); }
  const Side& below(std::size_t cell) const {
    return cell > 0 ? cells[cell - 1].side[1] : beyond[0];
  }
  const Side& above(std::size_t cell) const {
    return cell + 1 < cells.size() ? cells[cell + 1].side[0] : beyond[1];
  }

  void step(const Inbox& inbox, Outbox& outbox) {
    if (now % 2 == 1) {
      try_all(inbox);
      tell(outbox, cells.front().refused, cells.back().refused);
    } else {
      if (now > 0) settle(inbox);
      for (Cell& cell : cells) iterations += cell.predict(steps_per_length());
      tell(outbox, cells.front().side[0], cells.back().side[1]);
    }
    ++now;
  }

  /// Sends one value to the neighbour on the left and another value to the neighbour on the right.
  template <typename Value>
  void tell(Outbox& outbox, const Value& lower, const Value& upper) const {
    const std::uint32_t n = settings.pieces;
    if (id > 0 || settings.is_smooth) outbox.send((id + n - 1) % n, std::uint32_t{1}, lower);
    if (id + 1 < n || settings.is_smooth) outbox.send((id + 1) % n, std::uint32_t{0}, upper);
  }

  void try_all(const Inbox& inbox) {
    beyond = {cells.front().side[0].mirrored(), cells.back().side[1].mirrored()};  // walls
    for (const Mail& mail : inbox) {
      std::uint32_t end = 0;
      Side side;
      mail.read(end, side);
      beyond[end] = side;
    }
    for (std::size_t c = 0; c < cells.size(); ++c) {
      Cell& cell = cells[c];
      if (cell.side[0].speed > settings.fastest())
        fail("a wave of speed {:.3g} is too fast for the time step; the limit is {:.3g}",
             cell.side[0].speed, settings.fastest());
      cell.tried = {flux_between(below(c), cell.side[0]), flux_between(cell.side[1], above(c))};
      Cell candidate = cell;
      candidate.advance(steps_per_length(), cell.tried);
      cell.refused = cell.ran_off || !candidate.is_credible(below(c), above(c));
    }
  }

  /// Completes the step. At a face of a rejected cell, the cells on both sides use the flux between
  /// the two subcells next to the face.
  void settle(const Inbox& inbox) {
    std::array<bool, 2> refused{cells.front().refused, cells.back().refused};
    for (const Mail& mail : inbox) {
      std::uint32_t end = 0;
      bool is_refused = false;
      mail.read(end, is_refused);
      refused[end] = is_refused;
    }
    bool before = refused[0];
    for (std::size_t c = 0; c < cells.size(); ++c) {
      Cell& cell = cells[c];
      const bool here = cell.refused;
      const bool after = c + 1 < cells.size() ? cells[c + 1].refused : refused[1];
      refusals += here;
      if (here) {
        cell.advance_parts(steps_per_length(), below(c), above(c));
      } else {
        std::array<State, 2> ends = cell.tried;
        if (before) ends[0] = part_flux_between(below(c), cell.side[0], steps_per_length());
        if (after) ends[1] = part_flux_between(cell.side[1], above(c), steps_per_length());
        cell.advance(steps_per_length(), ends);
      }
      before = here;
    }
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(settings, id, now, iterations, refusals, cells, beyond);
  }
};

struct Sum {
  double mass = 0, energy = 0, error = 0;
  double iterations = 0, refusals = 0, hash = 0;
  Sum& operator+=(const Sum& other) {
    mass += other.mass, energy += other.energy, error += other.error;
    iterations += other.iterations, refusals += other.refusals, hash += other.hash;
    return *this;
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "limiter";
  static constexpr const char* kSummary =
      "Explosions in a tube, by polynomials where they are accurate and by subcells elsewhere.";
  std::uint64_t iterations = 200;
  Settings settings;

  void add_options(Arguments& arguments) {
    arguments.add("--pieces", settings.pieces, "pieces of the tube", 1, 1000000);
    arguments.add("--cells", settings.cells, "cells of a piece", 1, 1000000);
    arguments.add_flag("--smooth", settings.is_smooth,
                       "a smooth periodic wave whose exact solution is known");
  }
  void prepare() const {
    if (settings.is_smooth && settings.pieces < 3)
      fail("--smooth needs at least 3 --pieces, not {}", settings.pieces);
  }
  ObjectId num_objects() const { return settings.pieces; }
  /// An iteration takes two steps; one more step completes the last iteration.
  std::uint64_t steps() const { return 2 * iterations + 1; }
  std::uint32_t subphase_of(std::uint64_t step) const { return step % 2; }
  Piece object(ObjectId id) const { return {id, settings}; }

  Sum sum_of(const Piece& piece) const {
    Sum sum;
    const double time = piece.now / 2 * settings.time_step();
    for (std::size_t c = 0; c < piece.cells.size(); ++c)
      for (std::size_t i = 0; i < kNodes; ++i) {
        const double weight = settings.length() * kScheme.weight[i];
        const State& state = piece.cells[c].values[i];
        sum.mass += weight * state[0];
        sum.energy += weight * state[2];
        sum.hash += weight * state[0] * state[2];
        if (settings.is_smooth)
          sum.error += weight * std::abs(state[0] -
                                         settings.at(piece.position(c, kScheme.node[i]) - time)[0]);
      }
    sum.iterations = piece.iterations;
    sum.refusals = piece.refusals;
    return sum;
  }
  void check(const Sum& first, const Sum& last) const {
    const double cell_steps = double{1} * settings.pieces * settings.cells * iterations;
    fmt::print(
        "{:.3g} iterations per cell and step, {:.4g}% refused; mass by {:.1e}, energy by {:.1e}, "
        "density off by {:.1e}\n",
        last.iterations / cell_steps, 100 * last.refusals / cell_steps, last.mass / first.mass - 1,
        last.energy / first.energy - 1, last.error);
    if (!(std::abs(last.mass / first.mass - 1) < 1e-10))
      fail("the relative change of the mass exceeds 1e-10, so mass is not conserved");
    if (!(std::abs(last.energy / first.energy - 1) < 1e-10))
      fail("the relative change of the energy exceeds 1e-10, so energy is not conserved");
  }
  double checksum(const Sum& sum) const { return sum.hash + sum.iterations + sum.refusals; }
};

}  // namespace poise::miniapps::limiter
