// SPDX-License-Identifier: BSD-3-Clause
// The results of `poise simulate` as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "apps/analysis/simulation.h"

namespace poise::apps {

/// Returns the results of one strategy, with its series of steps, or its error.
nlohmann::ordered_json json_of(const Simulation::Row& row, const Simulation& simulation);

}  // namespace poise::apps
