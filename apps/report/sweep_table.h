// SPDX-License-Identifier: BSD-3-Clause
// What a sweep of `poise simulate` reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/analysis/sweep.h"
#include "apps/text/table.h"

namespace poise::apps {

/// A line per strategy, period and number of places: medians over seeds, and the extremes of the
/// total if there are several seeds. The best line of each number of places is marked.
Table sweep_table(const Sweep& sweep);

/// A line per number of places: the best strategy and period.
std::string sweep_summary(const Sweep& sweep);

/// Adds the keys seeds, sweep and best to the problem.
nlohmann::ordered_json add_sweep(nlohmann::ordered_json problem, const Sweep& sweep);

}  // namespace poise::apps
