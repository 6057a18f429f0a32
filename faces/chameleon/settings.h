// Translates CHAMELEON's environment variables into Poise's settings.
#pragma once

#include <functional>
#include <string>

namespace poise::chameleon {

/// If some threshold of CHAMELEON's policy is set: that policy (sorted pairs) with these
/// thresholds. Else empty. `variable` is getenv. Throws Error if a value is not a number or is
/// negative.
std::string settings_of(const std::function<const char*(const char*)>& variable);

}  // namespace poise::chameleon
