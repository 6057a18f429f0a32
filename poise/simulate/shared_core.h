// SPDX-License-Identifier: BSD-3-Clause
// A core that a simulated rank and a competitor hold in turn.
#pragma once

#include <algorithm>
#include <cmath>

namespace poise {

/// The rank and the competitor each hold the core for slice_s. If slice_s is 0, the rank has the
/// core alone.
struct SharedCore {
  double slice_s = 0;
  double offset_s = 0;  // seconds before time 0 at which a slice of the rank began

  /// Returns the first time from at_s on at which the rank holds the core.
  double held_from_s(double at_s) const {
    if (slice_s <= 0) return at_s;
    const double slice = std::floor((at_s + offset_s) / slice_s);
    const bool is_held = std::fmod(slice, 2) == 0;
    return is_held ? at_s : std::max(at_s, (slice + 1) * slice_s - offset_s);
  }
  /// Returns when the rank has computed for `seconds`. It begins at start_s or, if it does not hold
  /// the core then, as soon as it does.
  double end_s(double start_s, double seconds) const {
    if (slice_s <= 0) return start_s + seconds;
    start_s = held_from_s(start_s);
    const double into_s = std::fmod(start_s + offset_s, 2 * slice_s);
    const double remaining_s = into_s < slice_s ? slice_s - into_s : slice_s;  // else: rounding
    if (seconds <= remaining_s) return start_s + seconds;
    return start_s + seconds + slice_s * (1 + std::floor((seconds - remaining_s) / slice_s));
  }
};

}  // namespace poise
