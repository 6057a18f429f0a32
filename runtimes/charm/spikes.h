// SPDX-License-Identifier: BSD-3-Clause
// Replaces loads that are too high because of a disturbance, such as the preemption of an object.
#pragma once

#include <cstddef>
#include <vector>

#include "poise/workload/workload.h"

namespace poise::charm {

/// Number of earlier decisions whose loads replace_spikes() uses.
inline constexpr std::size_t kDecisionsForSpikes = 2;

/// Replaces loads that are far above those of the last decisions, and returns their number.
/// `past_loads_s` has one load per task and decision, oldest first. Loads are compared relative to
/// the mean load, because phases differ in length. A load is a spike if it exceeds three times the
/// larger one of the same task's last two loads, which then replaces it. So a load that stays high
/// is used from the next decision on. If more than a hundredth of all loads (at least one) are
/// spikes, the program has changed and nothing is replaced. Without past loads nothing is replaced.
std::size_t replace_spikes(const std::vector<std::vector<double>>& past_loads_s,
                           Workload& workload);

}  // namespace poise::charm
