// SPDX-License-Identifier: BSD-3-Clause
// Measures the effect of each tuned number of `poise juggle` (poise/online/juggle_tuning.h) with
// programs on simulated cpus. The results are the same in each run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace poise::bench {

/// Returns one row for each setting, which is a list such as "noise=0.1,enough_windows=8". A row
/// has the work that the programs do with the setting, divided by their work without the setting,
/// and the number of programs for which the setting changes the balancer's decisions.
std::vector<nlohmann::json> juggle_rows(const std::vector<std::string>& settings);

}  // namespace poise::bench
