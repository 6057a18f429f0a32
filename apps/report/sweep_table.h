// SPDX-License-Identifier: BSD-3-Clause
// The report of a sweep of `poise simulate`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/analysis/sweep.h"
#include "apps/text/table.h"

namespace poise::apps {

/// Returns one line per strategy, period and number of places. A line has medians over the seeds
/// and, if there are several seeds, the smallest and the largest total time. The best line of each
/// number of places is marked.
Table sweep_table(const Sweep& sweep);

/// Returns one line per number of places, with the best strategy and balancing period.
std::string sweep_summary(const Sweep& sweep);

/// Returns `problem` with the additional keys seeds, sweep and best, which hold the results of the
/// sweep.
nlohmann::ordered_json add_sweep(nlohmann::ordered_json problem, const Sweep& sweep);

}  // namespace poise::apps
