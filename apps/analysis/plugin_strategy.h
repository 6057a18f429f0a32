// SPDX-License-Identifier: BSD-3-Clause
// Loads a strategy from a shared object of the user (poise/plugin.h).
#pragma once

#include <functional>
#include <string>

#include "poise/placement/problem.h"

namespace poise::apps {

/// Loads the library, which stays loaded. The returned function calls the library's strategy, and
/// throws Error if the strategy fails. Throws Error if the file is not a shared object or does not
/// define poise_strategy.
std::function<Placement(const Problem&)> plugin_strategy(const std::string& path);

}  // namespace poise::apps
