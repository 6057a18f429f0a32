// SPDX-License-Identifier: BSD-3-Clause
// Translates CHAMELEON's environment variables into Poise's settings.
#pragma once

#include <functional>
#include <string>

namespace poise::chameleon {

/// If one of CHAMELEON's thresholds is set, returns settings that select its policy (sorted pairs)
/// with its thresholds; otherwise an empty text. `variable` is getenv. Throws Error if a value is
/// not a number or is negative.
std::string settings_of(const std::function<const char*(const char*)>& variable);

}  // namespace poise::chameleon
