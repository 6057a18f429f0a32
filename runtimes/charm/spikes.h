// SPDX-License-Identifier: BSD-3-Clause
// Replaces loads that are too high because of a disturbance, such as the preemption of an object.
#pragma once

#include <cstddef>
#include <vector>

#include "poise/workload/workload.h"

namespace poise::charm {

/// Number of earlier decisions whose loads replace_spikes() uses.
inline constexpr std::size_t kDecisionsForSpikes = 2;

/// Returns the maximum number of spikes at a decision about num_tasks tasks. If more loads than
/// this are unusually high, they do not count as spikes, because the program has changed.
std::size_t max_spikes(std::size_t num_tasks);

/// True if a load is a spike compared with the task's usual load, which must already be scaled to
/// the mean load of this phase.
bool is_spike(double load_s, double usual_s);

/// Replaces loads that are far above earlier loads of the same task, and returns how many it
/// replaced. `past_loads_s` has a list of the tasks' loads per decision, oldest first, as they were
/// measured; tasks after the end of a list have no load. The usual load of a task is the larger one
/// of its loads at the last two decisions, each scaled to the mean load of this phase, because
/// phases differ in length. A load above three times the usual load is a spike, and is replaced by
/// the usual load. A load that stays high is not a spike at the next decision. If more than one
/// load and more than a hundredth of all loads are spikes, the program has changed and nothing is
/// replaced. Without past loads nothing is replaced.
std::size_t replace_spikes(const std::vector<std::vector<double>>& past_loads_s,
                           Workload& workload);

}  // namespace poise::charm
