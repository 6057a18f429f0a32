// SPDX-License-Identifier: BSD-3-Clause
// Bisection for the lowest threshold below which a refining strategy can bring all places.
#pragma once

#include <functional>
#include <optional>

#include "poise/placement/placement.h"

namespace poise {

/// Tries the threshold hoped_s, then bisects between hoped_s and reached_s (the busiest place of
/// `current`) until the threshold is known to precision_s. `attempt` returns a placement with no
/// place above the threshold, or nothing. Returns the result of the last success, or `current` if
/// no attempt succeeded.
Placement lowest_threshold(
    double hoped_s, double reached_s, double precision_s, const Placement& current,
    const std::function<std::optional<Placement>(double threshold_s)>& attempt);

}  // namespace poise
