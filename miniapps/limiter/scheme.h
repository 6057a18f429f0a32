// SPDX-License-Identifier: BSD-3-Clause
// Polynomials of degree four on the unit interval, given by their values at the Gauss points:
// derivatives, integrals, values at both ends and averages over subcells.
#pragma once

#include <array>
#include <cmath>

namespace poise::miniapps::limiter {

constexpr std::size_t kNodes = 5, kParts = 2 * kNodes - 1;

using Nodes = std::array<double, kNodes>;

struct Scheme {
  Nodes node{}, weight{};
  Nodes lower{}, upper{};               // values of the i-th basis polynomial at 0 and at 1
  std::array<Nodes, kNodes> slope{};    // [i][j]: derivative of polynomial j at node i
  std::array<Nodes, kNodes> until{};    // [i][j]: integral of polynomial j from 0 to node i
  std::array<Nodes, kParts> average{};  // [s][j]: average of polynomial j over subcell s
};

/// Returns the value at x of the polynomial with the coefficients c.
inline double value(const Nodes& c, double x) {
  return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}
inline double slope(const Nodes& c, double x) {
  return c[1] + x * (2 * c[2] + x * (3 * c[3] + x * 4 * c[4]));
}
inline double integral(const Nodes& c, double x) {
  return x * (c[0] + x * (c[1] / 2 + x * (c[2] / 3 + x * (c[3] / 4 + x * c[4] / 5))));
}

/// Returns the polynomial that is 1 at node j and 0 at all other nodes.
inline Nodes base(const Nodes& node, std::size_t j) {
  Nodes c{1};
  for (std::size_t k = 0; k < kNodes; ++k) {
    if (k == j) continue;
    for (std::size_t power = kNodes; power-- > 0;)
      c[power] = ((power > 0 ? c[power - 1] : 0) - node[k] * c[power]) / (node[j] - node[k]);
  }
  return c;
}

inline Scheme make_scheme() {
  Scheme s;
  const double inner = std::sqrt(5 - 2 * std::sqrt(10.0 / 7)) / 6;
  const double outer = std::sqrt(5 + 2 * std::sqrt(10.0 / 7)) / 6;
  s.node = {0.5 - outer, 0.5 - inner, 0.5, 0.5 + inner, 0.5 + outer};
  for (std::size_t j = 0; j < kNodes; ++j) {
    const Nodes c = base(s.node, j);
    s.weight[j] = integral(c, 1);
    s.lower[j] = value(c, 0);
    s.upper[j] = value(c, 1);
    for (std::size_t i = 0; i < kNodes; ++i) {
      s.slope[i][j] = slope(c, s.node[i]);
      s.until[i][j] = integral(c, s.node[i]);
    }
    for (std::size_t part = 0; part < kParts; ++part) {
      const double at = part;
      s.average[part][j] = kParts * (integral(c, (at + 1) / kParts) - integral(c, at / kParts));
    }
  }
  return s;
}

}  // namespace poise::miniapps::limiter
