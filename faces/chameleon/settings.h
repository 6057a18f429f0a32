// CHAMELEON's environment variables in terms of Poise's settings.
#pragma once

#include <functional>
#include <string>

namespace poise::chameleon {

/// Who sets a threshold of CHAMELEON's policy wants that policy: sorted pairs, with the thresholds
/// that are set. Empty if none is. `variable` is getenv. Throws Error on what is
/// not a number or less than 0.
std::string settings_of(const std::function<const char*(const char*)>& variable);

}  // namespace poise::chameleon
