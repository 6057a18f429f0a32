// SPDX-License-Identifier: BSD-3-Clause
// Translates CHAMELEON's environment variables into Poise's settings.
#pragma once

#include <functional>
#include <string>

namespace poise::chameleon {

/// If an environment variable sets one of CHAMELEON's thresholds, returns settings of the tasks
/// runtime with CHAMELEON's policy (sorted pairs) and these thresholds, or without lending if a
/// threshold can never be reached. Otherwise returns an empty text. `variable` is getenv. Throws
/// Error if a value is not a number or is negative.
std::string settings_of(const std::function<const char*(const char*)>& variable);

}  // namespace poise::chameleon
