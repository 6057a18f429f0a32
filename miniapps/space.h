// SPDX-License-Identifier: BSD-3-Clause
// Vectors and axis-aligned boxes in three dimensions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace poise::miniapps {

using Vector = std::array<double, 3>;

inline Vector operator*(double factor, const Vector& v) {
  return {factor * v[0], factor * v[1], factor * v[2]};
}
inline Vector operator-(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Vector& operator+=(Vector& a, const Vector& b) {
  for (std::size_t axis = 0; axis < 3; ++axis) a[axis] += b[axis];
  return a;
}
inline double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline double length(const Vector& v) { return std::sqrt(dot(v, v)); }

/// The axis-aligned bounding box of the added points.
struct Box {
  Vector low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};

  void add(const Vector& at) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], at[axis]);
      high[axis] = std::max(high[axis], at[axis]);
    }
  }
  std::size_t longest_axis() const {
    const Vector sides = high - low;
    return std::max_element(sides.begin(), sides.end()) - sides.begin();
  }
  double side() const { return (high - low)[longest_axis()]; }
  /// Square of the distance from the box to a point, or 0 if the point is inside.
  double square_to(const Vector& at) const {
    Vector gap;
    for (std::size_t axis = 0; axis < 3; ++axis)
      gap[axis] = std::max({low[axis] - at[axis], at[axis] - high[axis], 0.0});
    return dot(gap, gap);
  }
};

}  // namespace poise::miniapps
