// SPDX-License-Identifier: BSD-3-Clause
// Converts a profile to the input of a diagnosis.
#pragma once

#include <vector>

#include "runtimes/profile/profile_file.h"

#include "poise/diagnosis/measured_run.h"

namespace poise::profile {

/// `ranks` is the result of whole(). Waits cover all calls; if only some calls were compared, they
/// are estimated. O(ranks x phases).
MeasuredRun measured(const std::vector<RankProfile>& ranks);

}  // namespace poise::profile
