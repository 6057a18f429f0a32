// SPDX-License-Identifier: BSD-3-Clause
// A strategy in a shared object of the user (poise/plugin.h).
#pragma once

#include <functional>
#include <string>

#include "poise/placement/problem.h"

namespace poise::apps {

/// Loads the library, which stays loaded. The result calls its strategy, and throws Error if that
/// fails. Throws Error if the file is not a shared object or does not define poise_strategy.
std::function<Placement(const Problem&)> plugin_strategy(const std::string& path);

}  // namespace poise::apps
