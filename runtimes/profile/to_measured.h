// SPDX-License-Identifier: BSD-3-Clause
// A profile as input of a diagnosis.
#pragma once

#include <vector>

#include "runtimes/profile/profile_file.h"

#include "poise/diagnosis/measured_run.h"

namespace poise::profile {

/// `ranks`: as whole() returns them. Waits are those of all calls, estimated where not all were
/// compared. O(ranks x phases).
MeasuredRun measured(const std::vector<RankProfile>& ranks);

}  // namespace poise::profile
