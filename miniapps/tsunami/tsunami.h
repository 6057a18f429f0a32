// SPDX-License-Identifier: BSD-3-Clause
// A tsunami, like sam(oa)²: shallow-water equations on an ocean that is divided into patches. A
// patch refines its cells where the wave is high, so the load moves with the wave.
//
// Finite volumes with the flux of Harten, Lax and van Leer, 1983, and hydrostatic reconstruction
// (Audusse et al., "A fast and stable well-balanced scheme with hydrostatic reconstruction for
// shallow water flows", 2004): an ocean at rest stays at rest on any floor. Where cells of two
// sizes meet, both sides compute the fluxes through the faces of the smaller cells, so no water is
// lost.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "miniapps/program.h"

namespace poise::miniapps::tsunami {

constexpr double kGravity = 9.81;  // m/s²
constexpr double kCell_m = 2000;   // side of the smallest cells
constexpr double kDepth_m = 4000;
constexpr double kCourant = 0.4;
constexpr std::uint64_t kStepsBetweenChanges = 4;  // between changes of a patch's resolution

struct Settings {
  std::uint32_t blocks = 8;  // patches per side of the ocean
  std::uint32_t cells = 8;   // cells per side of a patch without refinement
  std::uint32_t levels = 3;  // maximum number of refinements; each halves the side of a cell
  double wave_m = 2;         // initial height of the wave
  double fine_m = 0.2;       // waves of at least this height get the smallest cells
  double sleep_us = 0;       // sleep per cell and step

  std::uint32_t finest() const { return cells << levels; }
  double side_m() const { return kCell_m * blocks * finest(); }
  double time_step_s() const { return kCourant * kCell_m / std::sqrt(kGravity * kDepth_m); }

  /// Returns the height of a bump, which is 1 at (x, y) and 0 beyond the distance `reach`.
  /// Positions are fractions of the ocean's side.
  static double bump(double at_x, double at_y, double x, double y, double reach) {
    const double r = ((at_x - x) * (at_x - x) + (at_y - y) * (at_y - y)) / (reach * reach);
    return r < 1 ? (1 - r) * (1 - r) : 0;
  }
  /// Returns the height of the ocean's floor: a shelf on the right, a ridge and two seamounts, all
  /// under water.
  double floor_m(double x, double y) const {
    const double shelf = x > 0.8 ? (x - 0.8) / 0.2 : 0, across = std::abs(x + 0.3 * y - 0.75);
    const double ridge = across < 0.08 ? 1 - across / 0.08 : 0;
    return kDepth_m *
           (-1 + 0.9 * shelf * shelf + 0.4 * ridge * (1 - shelf) +
            0.5 * bump(x, y, 0.3, 0.6, 0.15) * (1 - ridge) + 0.3 * bump(x, y, 0.5, 0.2, 0.1));
  }
  double first_surface_m(double x, double y) const { return wave_m * bump(x, y, 0.3, 0.2, 0.12); }
};

/// A column of water above one cell.
struct Cell {
  double height = 0;                 // m
  std::array<double, 2> momentum{};  // momentum along x and y, divided by the density
  double floor = 0;                  // height of the sea floor in m above sea level, so negative
  double surface() const { return height + floor; }
};

/// Flux through a face: mass and transverse momentum per second, and the flux of normal momentum,
/// which differs between the lower and the upper side of the face.
struct Flux {
  double mass = 0, across = 0, lower_push = 0, upper_push = 0;
};

inline Flux flux(const Cell& lower, const Cell& upper, std::size_t axis) {
  const double floor = std::max(lower.floor, upper.floor);
  const double hl = std::max(0.0, lower.surface() - floor);
  const double hu = std::max(0.0, upper.surface() - floor);
  const double ul = lower.momentum[axis] / lower.height, uu = upper.momentum[axis] / upper.height;
  const double vl = lower.momentum[1 - axis] / lower.height;
  const double vu = upper.momentum[1 - axis] / upper.height;
  const double cl = std::sqrt(kGravity * hl), cu = std::sqrt(kGravity * hu);
  const double sl = std::min({0.0, ul - cl, uu - cu}), su = std::max({0.0, ul + cl, uu + cu});
  if (sl == su) return {};
  const auto mixed = [&](double fl, double fu, double ql, double qu) {
    return (su * fl - sl * fu + sl * su * (qu - ql)) / (su - sl);
  };
  const double push = mixed(hl * ul * ul + 0.5 * kGravity * hl * hl,
                            hu * uu * uu + 0.5 * kGravity * hu * hu, hl * ul, hu * uu);
  return {mixed(hl * ul, hu * uu, hl, hu), mixed(hl * ul * vl, hu * uu * vu, hl * vl, hu * vu),
          push + 0.5 * kGravity * (lower.height * lower.height - hl * hl),
          push + 0.5 * kGravity * (upper.height * upper.height - hu * hu)};
}

struct Patch {
  Settings settings;
  std::uint32_t x = 0, y = 0, level = 0;
  std::uint64_t now = 0;
  double wave = 0;          // largest surface elevation in this patch and its neighbours
  std::vector<Cell> cells;  // the rows of cells along x, one after the other

  Patch() = default;
  Patch(ObjectId id, const Settings& of)
      : settings(of), x(id % of.blocks), y(id / of.blocks), level(of.levels) {
    const std::vector<double> floors = floors_of(level);
    cells.resize(floors.size());
    for (std::uint32_t j = 0; j < width(); ++j)
      for (std::uint32_t i = 0; i < width(); ++i) {
        Cell& cell = cells[j * width() + i];
        cell.floor = floors[j * width() + i];
        cell.height = settings.first_surface_m(share(x, i), share(y, j)) - cell.floor;
      }
    wave = own_wave();
    change_to(wanted_level());
  }

  std::uint32_t width() const { return settings.cells << level; }
  std::chrono::duration<double, std::micro> sleep() const {
    return std::chrono::duration<double, std::micro>(settings.sleep_us * cells.size());
  }
  /// Returns the position of the centre of a patch's cell `i` along one axis, as a fraction of the
  /// ocean's side. Cells are numbered as if all had the smallest size.
  double share(std::uint32_t patch, std::uint32_t i) const {
    return (double{1} * patch * settings.finest() + i + 0.5) /
           (settings.blocks * settings.finest());
  }

  /// Returns the height of the sea floor in each cell: the average over the cells of the finest
  /// level inside this cell, so that refinement conserves water.
  std::vector<double> floors_of(std::uint32_t of_level) const {
    const std::uint32_t n = settings.cells << of_level, parts = settings.finest() / n;
    std::vector<double> floors(std::size_t{n} * n);
    for (std::uint32_t j = 0; j < settings.finest(); ++j)
      for (std::uint32_t i = 0; i < settings.finest(); ++i)
        floors[j / parts * n + i / parts] +=
            settings.floor_m(share(x, i), share(y, j)) / (double{1} * parts * parts);
    return floors;
  }

  double own_wave() const {
    double most = 0;
    for (const Cell& cell : cells) most = std::max(most, std::abs(cell.surface()));
    return most;
  }
  /// Returns the refinement level that the wave needs: the finest if the wave is at least fine_m
  /// high, one level less if it is at least fine_m / 2 high, and so on.
  std::uint32_t wanted_level() const {
    std::uint32_t wanted = settings.levels;
    for (double enough = settings.fine_m; wanted > 0 && wave < enough; enough /= 2) --wanted;
    return wanted;
  }

  void change_to(std::uint32_t next) {
    if (next == level) return;
    const std::vector<double> floors = floors_of(next);
    const std::uint32_t before = width(), n = settings.cells << next;
    const std::uint32_t m = std::max(before, n);  // cells per side of the finer grid
    const double part = (double{1} * n / m) * (double{1} * n / m);
    std::vector<Cell> changed(floors.size());
    for (std::uint32_t j = 0; j < m; ++j)
      for (std::uint32_t i = 0; i < m; ++i) {
        const std::size_t to = j * n / m * n + i * n / m;
        const Cell& from = cells[j * before / m * before + i * before / m];
        changed[to].floor = floors[to];
        changed[to].height += part * (n > before ? from.surface() - floors[to] : from.height);
        for (std::size_t a = 0; a < 2; ++a) changed[to].momentum[a] += part * from.momentum[a];
      }
    cells = std::move(changed);
    level = next;
  }

  /// Returns the cells along one side of the patch: 0 is left, 1 right, 2 lower, 3 upper.
  std::vector<Cell> edge(std::uint32_t side) const {
    const std::size_t n = width(), last = side % 2 == 1 ? n - 1 : 0;
    std::vector<Cell> line;
    for (std::size_t k = 0; k < n; ++k)
      line.push_back(side < 2 ? cells[k * n + last] : cells[last * n + k]);
    return line;
  }

  void step(const Inbox& inbox, Outbox& outbox) {
    std::array<std::vector<Cell>, 4> beyond;
    for (std::uint32_t side = 0; side < 4; ++side) {  // assumes a coast, which mirrors momentum
      beyond[side] = edge(side);
      for (Cell& cell : beyond[side]) cell.momentum[side / 2] *= -1;
    }
    double most = own_wave();
    for (const Mail& mail : inbox) {
      std::uint32_t side = 0;
      double its_wave = 0;
      std::span<const Cell> line;
      mail.read(side, its_wave, line);
      beyond[side].assign(line.begin(), line.end());
      most = std::max(most, its_wave);
    }
    if (now > 0) flow(beyond);
    if (settings.sleep_us > 0) std::this_thread::sleep_for(sleep());
    wave = most;
    if (now % kStepsBetweenChanges == 0 && now > 0) change_to(wanted_level());
    tell(outbox);
    ++now;
  }

  void tell(Outbox& outbox) const {
    const std::uint32_t id = y * settings.blocks + x, last = settings.blocks - 1;
    const double own = own_wave();
    if (x > 0) outbox.send(id - 1, std::uint32_t{1}, own, edge(0));
    if (x < last) outbox.send(id + 1, std::uint32_t{0}, own, edge(1));
    if (y > 0) outbox.send(id - settings.blocks, std::uint32_t{3}, own, edge(2));
    if (y < last) outbox.send(id + settings.blocks, std::uint32_t{2}, own, edge(3));
  }

  void flow(const std::array<std::vector<Cell>, 4>& beyond) {
    const std::size_t n = width();
    std::vector<Cell> next = cells;
    const double scale = settings.time_step_s() / (kCell_m * (1U << (settings.levels - level)));
    const auto leave = [scale](Cell& cell, const Flux& f, double push, std::size_t axis,
                               double share) {
      cell.height -= scale * share * f.mass;
      cell.momentum[axis] -= scale * share * push;
      cell.momentum[1 - axis] -= scale * share * f.across;
    };
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::size_t stride = axis == 0 ? 1 : n, across = axis == 0 ? n : 1;
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 1; i < n; ++i) {
          const std::size_t upper = k * across + i * stride, lower = upper - stride;
          const Flux f = flux(cells[lower], cells[upper], axis);
          leave(next[lower], f, f.lower_push, axis, 1);
          leave(next[upper], f, f.upper_push, axis, -1);
        }
      for (const std::size_t end : {0, 1}) {
        const std::vector<Cell>& others = beyond[2 * axis + end];
        const std::size_t m = std::max(n, others.size());
        for (std::size_t k = 0; k < m; ++k) {
          const std::size_t own = k * n / m * across + (end == 1 ? (n - 1) * stride : 0);
          const Cell& other = others[k * others.size() / m];
          const double share = 1.0 * n / m;
          const Flux f = end == 1 ? flux(cells[own], other, axis) : flux(other, cells[own], axis);
          leave(next[own], f, end == 1 ? f.lower_push : f.upper_push, axis,
                end == 1 ? share : -share);
        }
      }
    }
    cells = std::move(next);
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(settings, x, y, level, now, wave, cells);
  }
};

struct Sum {
  double water = 0;   // average height of the water in m
  double energy = 0;  // average energy, minus that of the ocean at rest
  double num_cells = 0;
  double speed = 0;  // the highest speed in m/s
  Sum& operator+=(const Sum& other) {
    water += other.water, energy += other.energy, num_cells += other.num_cells;
    speed = std::max(speed, other.speed);
    return *this;
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "tsunami";
  static constexpr const char* kSummary =
      "A tsunami: shallow water on cells that are refined where the wave is.";
  std::uint64_t iterations = 200;
  Settings settings;
  bool calm = false;

  void add_options(Arguments& arguments) {
    arguments.add("--blocks", settings.blocks, "patches per side of the ocean", 1, 1000);
    arguments.add("--cells", settings.cells, "cells per side of a patch without refinement", 1,
                  1024);
    arguments.add("--levels", settings.levels, "most refinements of a cell; each halves its side",
                  0, 6);
    arguments.add("--fine", settings.fine_m,
                  "height in metres of a wave that needs the smallest cells", 1e-6, 1e3);
    arguments.add("--sleep", settings.sleep_us,
                  "microseconds of sleep per cell and step, for more ranks than cores", 0.0, 1e6);
    arguments.add_flag("--calm", calm, "no wave: the ocean must stay at rest");
  }
  void prepare() {
    if (calm) settings.wave_m = 0;
  }
  ObjectId num_objects() const { return settings.blocks * settings.blocks; }
  std::uint64_t steps() const { return iterations + 1; }  // the first step only sends
  bool waits() const { return settings.sleep_us > 0; }
  Patch object(ObjectId id) const { return {id, settings}; }

  Sum sum_of(const Patch& patch) const {
    Sum sum;
    const double area = 1.0 / (static_cast<double>(patch.cells.size()) * num_objects());
    sum.num_cells = patch.cells.size();
    for (const Cell& cell : patch.cells) {
      const auto [mx, my] = cell.momentum;
      sum.water += area * cell.height;
      sum.energy +=
          area * 0.5 *
          ((mx * mx + my * my) / cell.height + kGravity * cell.surface() * cell.surface());
      sum.speed = std::max({sum.speed, std::abs(mx / cell.height), std::abs(my / cell.height)});
    }
    return sum;
  }
  void check(const Sum& first, const Sum& last) const {
    fmt::print(
        "{:.0f} cells at first, {:.0f} at last; energy {:.6g} J/m2 at first, {:.6g} at last; water "
        "by {:.1e}\n",
        first.num_cells, last.num_cells, 1000 * first.energy, 1000 * last.energy,
        last.water / first.water - 1);
    if (!(std::abs(last.water / first.water - 1) < 1e-12))
      fail("the relative change of the amount of water exceeds 1e-12, so water is not conserved");
    if (!(last.energy < 1.001 * first.energy + 1e-9))
      fail("the energy of the water increased by more than a thousandth");
    if (calm && !(last.speed < 1e-9))
      fail("water that should be at rest flows at {:.1e} m/s", last.speed);
  }
  double checksum(const Sum& sum) const { return sum.water + sum.energy + sum.speed; }
};

}  // namespace poise::miniapps::tsunami
