// SPDX-License-Identifier: BSD-3-Clause
// Converts a profile to the input of a diagnosis.
#pragma once

#include <vector>

#include "runtimes/profile/profile_file.h"

#include "poise/diagnosis/measured_run.h"

namespace poise::profile {

/// `ranks` are the profiles that whole() returned. If waiting times were measured in some calls
/// only, the times for all calls are estimated from these. O(ranks x phases).
MeasuredRun measured(const std::vector<RankProfile>& ranks);

}  // namespace poise::profile
