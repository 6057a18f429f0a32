// SPDX-License-Identifier: BSD-3-Clause
// Loads that are an accident of one measurement, such as an object that was preempted.
#pragma once

#include <cstddef>
#include <vector>

#include "poise/workload/workload.h"

namespace poise::charm {

/// Number of earlier decisions whose loads replace_spikes() uses.
inline constexpr std::size_t kDecisionsForSpikes = 2;

/// Replaces loads that are far above what they were at the last decisions; returns how many.
/// `past_loads_s` has one load per task and decision, oldest first. Loads are compared as multiples
/// of the mean load, because phases differ in length. A load is a spike if it exceeds three times
/// the larger one of its last two values, which then replaces it. So a load that stays high counts
/// from the next decision on. If more than a hundredth of all loads (at least one) would be spikes,
/// the program has changed and nothing is replaced. Without past loads nothing is replaced.
std::size_t replace_spikes(const std::vector<std::vector<double>>& past_loads_s,
                           Workload& workload);

}  // namespace poise::charm
