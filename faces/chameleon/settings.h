// SPDX-License-Identifier: BSD-3-Clause
// Translates CHAMELEON's environment variables into Poise's settings.
#pragma once

#include <functional>
#include <string>

namespace poise::chameleon {

/// Returns settings that select sorted pairs, CHAMELEON's policy, with its thresholds if one of
/// them is set; otherwise an empty text. `variable` is getenv. Throws Error if a value is not a
/// number or is negative.
std::string settings_of(const std::function<const char*(const char*)>& variable);

}  // namespace poise::chameleon
