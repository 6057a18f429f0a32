// SPDX-License-Identifier: BSD-3-Clause
// A cell of gas. A time step is computed with polynomials. If the result is not credible, the step
// is repeated with subcells.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "miniapps/limiter/scheme.h"

namespace poise::miniapps::limiter {

constexpr double kGamma = 1.4;        // ratio of specific heats
constexpr double kConverged = 1e-11;  // a smaller relative change ends the fixed-point iteration
constexpr int kMaxIterations = 40;

inline const Scheme kScheme = make_scheme();

/// The state of the gas: density, momentum density and energy density.
struct State : std::array<double, 3> {
  State& add(double by, const State& other) {
    for (std::size_t c = 0; c < 3; ++c) (*this)[c] += by * other[c];
    return *this;
  }
  double pressure() const {
    return (kGamma - 1) * ((*this)[2] - 0.5 * (*this)[1] * (*this)[1] / (*this)[0]);
  }
  bool is_gas() const { return (*this)[0] > 1e-6 && pressure() > 1e-6; }  // false for NaN
  double speed() const {
    return std::abs((*this)[1] / (*this)[0]) + std::sqrt(kGamma * pressure() / (*this)[0]);
  }
  State flux() const {
    const double u = (*this)[1] / (*this)[0], p = pressure();
    return {(*this)[1], (*this)[1] * u + p, u * ((*this)[2] + p)};
  }
  State mirrored() const { return {(*this)[0], -(*this)[1], (*this)[2]}; }
};

inline State gas(double density, double velocity, double pressure) {
  return {density, density * velocity,
          pressure / (kGamma - 1) + 0.5 * density * velocity * velocity};
}

using Values = std::array<State, kNodes>;
using Parts = std::array<State, kParts>;

/// The local Lax-Friedrichs flux.
inline State flux_between(const State& q_lower, const State& f_lower, const State& q_upper,
                          const State& f_upper, double speed) {
  State flux{};
  flux.add(0.5, f_lower).add(0.5, f_upper).add(0.5 * speed, q_lower).add(-0.5 * speed, q_upper);
  return flux;
}

/// Half of the difference between the states at the two ends of the subcell `here`. The minmod
/// limiter sets this difference, for each component of the state, to the smaller of the differences
/// to the two neighbouring subcells, or to 0 if these have different signs.
inline State half_slope(const State& before, const State& here, const State& after) {
  State half{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double a = here[c] - before[c], b = after[c] - here[c];
    if (a * b > 0) half[c] = 0.5 * (std::abs(a) < std::abs(b) ? a : b);
  }
  return half;
}

/// The MUSCL-Hancock flux (van Leer, 1984) between the second and the third of four subcells.
inline State part_flux(const std::array<State, 4>& part, double steps_per_length) {
  std::array<State, 2> end;
  for (std::size_t side = 0; side < 2; ++side) {
    const State half = half_slope(part[side], part[side + 1], part[side + 2]);
    State lower = part[side + 1], upper = part[side + 1];
    lower.add(-1, half), upper.add(1, half);
    end[side] = part[side + 1];
    if (!lower.is_gas() || !upper.is_gas()) continue;
    State later = side == 0 ? upper : lower;
    later.add(0.5 * steps_per_length, lower.flux()).add(-0.5 * steps_per_length, upper.flux());
    if (later.is_gas()) end[side] = later;
  }
  return flux_between(end[0], end[0].flux(), end[1], end[1].flux(),
                      std::max(end[0].speed(), end[1].speed()));
}

/// The message from a cell to its neighbour on one side.
struct Side {
  State state{}, flux{};  // state and flux at the shared face, averaged over the step
  State near{}, far{};    // the two subcells next to the face
  State least{}, most{};  // smallest and largest values in the cell
  double speed = 0;       // largest wave speed in the cell

  Side mirrored() const {
    Side m = *this;
    m.state = state.mirrored(), m.near = near.mirrored(), m.far = far.mirrored();
    m.flux = {-flux[0], flux[1], -flux[2]};
    return m;
  }
};

inline State flux_between(const Side& lower, const Side& upper) {
  return flux_between(lower.state, lower.flux, upper.state, upper.flux,
                      std::max(lower.speed, upper.speed));
}
inline State part_flux_between(const Side& lower, const Side& upper, double steps_per_length) {
  return part_flux({lower.far, lower.near, upper.near, upper.far}, steps_per_length * kParts);
}

struct Cell {
  Values values{};  // at the nodes
  Values inner{};   // [j]: integral of flux * slope of basis polynomial j over cell and step
  Parts parts{};
  std::array<Side, 2> side;
  std::array<State, 2> tried{};  // fluxes of the candidate step at both ends of the cell
  /// True: the solution is stored in the subcells (`parts`). False: it is stored at the nodes
  /// (`values`).
  bool has_parts = false;
  bool refused = false;  // the candidate for the new state was rejected
  bool ran_off = false;  // a predicted density or pressure was not positive

  State average(std::size_t part) const {
    State sum{};
    for (std::size_t j = 0; j < kNodes; ++j) sum.add(kScheme.average[part][j], values[j]);
    return sum;
  }

  /// Computes the flow at five instants of the step by fixed-point iteration. Returns the number of
  /// iterations.
  int predict(double steps_per_length) {
    if (!has_parts)
      for (std::size_t s = 0; s < kParts; ++s) parts[s] = average(s);
    std::array<Values, kNodes> flow, change;  // values by instant, then by node
    flow.fill(values);
    int iterations = 0;
    ran_off = true;
    for (bool is_settled = false; !is_settled && iterations < kMaxIterations; ++iterations) {
      for (std::size_t t = 0; t < kNodes; ++t) {
        Values flux;
        for (std::size_t i = 0; i < kNodes; ++i) {
          if (!flow[t][i].is_gas()) return iterations + fall_back();
          flux[i] = flow[t][i].flux();
        }
        for (std::size_t i = 0; i < kNodes; ++i) {
          change[t][i] = {};
          for (std::size_t j = 0; j < kNodes; ++j) change[t][i].add(kScheme.slope[i][j], flux[j]);
        }
      }
      is_settled = true;
      for (std::size_t t = 0; t < kNodes; ++t)
        for (std::size_t i = 0; i < kNodes; ++i) {
          State next = values[i];
          for (std::size_t k = 0; k < kNodes; ++k)
            next.add(-steps_per_length * kScheme.until[t][k], change[k][i]);
          for (std::size_t c = 0; c < 3; ++c)
            if (!(std::abs(next[c] - flow[t][i][c]) <= kConverged * (1 + std::abs(next[c]))))
              is_settled = false;
          flow[t][i] = next;
        }
    }
    ran_off = false;
    summarise(flow);
    return iterations;
  }

  /// Called if the fixed-point iteration has failed: the neighbours then get the cell's average
  /// state instead of the predicted flow, and the cell's candidate will be rejected.
  int fall_back() {
    std::array<Values, kNodes> flow;
    State mean{};
    for (const State& part : parts) mean.add(1.0 / kParts, part);
    for (Values& at : flow) at.fill(mean);
    summarise(flow);
    return 1;
  }

  void summarise(const std::array<Values, kNodes>& flow) {
    inner = {};
    side = {};
    for (std::size_t t = 0; t < kNodes; ++t)
      for (std::size_t i = 0; i < kNodes; ++i) {
        const State flux = flow[t][i].flux();
        const double in_time = kScheme.weight[t], in_both = in_time * kScheme.weight[i];
        for (std::size_t j = 0; j < kNodes; ++j) inner[j].add(in_both * kScheme.slope[i][j], flux);
        for (std::size_t end = 0; end < 2; ++end) {
          const double there = in_time * (end == 0 ? kScheme.lower[i] : kScheme.upper[i]);
          side[end].state.add(there, flow[t][i]);
          side[end].flux.add(there, flux);
        }
      }
    State least = parts[0], most = parts[0];
    double speed = 0;
    for (const State& part : parts) {
      speed = std::max(speed, part.speed());
      for (std::size_t c = 0; c < 3; ++c) {
        least[c] = std::min(least[c], part[c]);
        most[c] = std::max(most[c], part[c]);
      }
    }
    for (Side& s : side) s.least = least, s.most = most, s.speed = speed;
    side[0].near = parts[0], side[0].far = parts[1];
    side[1].near = parts[kParts - 1], side[1].far = parts[kParts - 2];
  }

  void advance(double steps_per_length, const std::array<State, 2>& ends) {
    for (std::size_t i = 0; i < kNodes; ++i) {
      const double by = steps_per_length / kScheme.weight[i];
      values[i].add(by, inner[i]).add(by * kScheme.lower[i], ends[0]);
      values[i].add(-by * kScheme.upper[i], ends[1]);
    }
    has_parts = false;
  }

  /// True if density and pressure are positive, and density and energy stay within the previous
  /// extremes of this cell and its neighbours, up to a tolerance.
  bool is_credible(const Side& below, const Side& above) const {
    for (std::size_t s = 0; s < kParts; ++s) {
      const State now = average(s);
      if (!now.is_gas()) return false;
      for (const std::size_t c : {0, 2}) {
        const double least = std::min({side[0].least[c], below.least[c], above.least[c]});
        const double most = std::max({side[0].most[c], below.most[c], above.most[c]});
        const double slack = std::max(1e-4, 1e-3 * (most - least));
        if (now[c] < least - slack || now[c] > most + slack) return false;
      }
    }
    return true;
  }

  /// Repeats the step in subcells, then computes the values at the nodes from the subcells.
  void advance_parts(double steps_per_length, const Side& below, const Side& above) {
    const double by = steps_per_length * kParts;
    std::array<State, kParts + 4> line;
    line[0] = below.far, line[1] = below.near;
    std::copy(parts.begin(), parts.end(), line.begin() + 2);
    line[kParts + 2] = above.near, line[kParts + 3] = above.far;
    for (std::size_t face = 0; face <= kParts; ++face) {
      const State f = part_flux({line[face], line[face + 1], line[face + 2], line[face + 3]}, by);
      if (face > 0) parts[face - 1].add(-by, f);
      if (face < kParts) parts[face].add(by, f);
    }
    for (std::size_t i = 0; i < kNodes; ++i) {
      values[i] = {};
      for (std::size_t s = 0; s < kParts; ++s)
        values[i].add(kScheme.average[s][i] / (kParts * kScheme.weight[i]), parts[s]);
    }
    has_parts = true;
  }
};

}  // namespace poise::miniapps::limiter
