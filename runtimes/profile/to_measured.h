// SPDX-License-Identifier: BSD-3-Clause
// Converts a profile to the input of a diagnosis.
#pragma once

#include <vector>

#include "runtimes/profile/profile_file.h"

#include "poise/diagnosis/measured_run.h"

namespace poise::profile {

/// `ranks` is the result of whole(). Waits are those of all calls; they are estimated if only some
/// calls were compared. O(ranks x phases).
MeasuredRun measured(const std::vector<RankProfile>& ranks);

}  // namespace poise::profile
