// The search that refining strategies share: how low can the busiest place be brought?
#pragma once

#include <functional>
#include <optional>

#include "poise/placement/placement.h"

namespace poise {

/// Tries hoped_s, then bisects between it and reached_s, which `current` has, until the threshold
/// is known to precision_s. `attempt` gives a placement with no place above a threshold, or
/// nothing. Returns the last success; `current` when there is none or nothing to hope for.
Placement lowest_threshold(
    double hoped_s, double reached_s, double precision_s, const Placement& current,
    const std::function<std::optional<Placement>(double threshold_s)>& attempt);

}  // namespace poise
