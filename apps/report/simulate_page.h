// SPDX-License-Identifier: BSD-3-Clause
// Builds the page of `poise simulate --html`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/simulation.h"

namespace poise::apps {

/// Returns the page. `heading` names the trace and the number of steps; `data` is a JSON document
/// that readers can save.
std::string simulate_page(const Simulation& simulation, const std::string& heading,
                          const std::vector<Timeline>& timelines, std::string_view data);

}  // namespace poise::apps
