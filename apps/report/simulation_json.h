// SPDX-License-Identifier: BSD-3-Clause
// The results of `poise simulate` as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "apps/analysis/simulation.h"

namespace poise::apps {

/// Returns the results of one strategy, including its results in each step. If the strategy failed,
/// returns its error.
nlohmann::ordered_json json_of(const Simulation::Row& row, const Simulation& simulation);

}  // namespace poise::apps
