// SPDX-License-Identifier: BSD-3-Clause
// Bisection for the lowest threshold that a refining strategy can reach: the strategy reaches a
// threshold if it finds a placement in which no place is busy for longer than the threshold.
#pragma once

#include <functional>
#include <optional>

#include "poise/placement/placement.h"

namespace poise {

/// Tries the threshold hoped_s, then bisects between hoped_s and reached_s, the time of the busiest
/// place under `current`. Ends when the lowest threshold for which an attempt is successful is
/// known to within precision_s. attempt(threshold_s) must return a placement in which no place is
/// busy for longer than threshold_s, or nothing if it finds none. Returns the placement of the last
/// successful attempt, or `current` if no attempt was successful.
Placement lowest_threshold(
    double hoped_s, double reached_s, double precision_s, const Placement& current,
    const std::function<std::optional<Placement>(double threshold_s)>& attempt);

}  // namespace poise
