// SPDX-License-Identifier: BSD-3-Clause
// Translates CHAMELEON's environment variables into Poise's settings.
#pragma once

#include <functional>
#include <string>

namespace poise::chameleon {

/// Returns settings of the tasks runtime that follow from CHAMELEON's environment variables, or an
/// empty text if none of them sets a threshold. The settings select CHAMELEON's policy (sorted
/// pairs) with the given thresholds. If a threshold can never be reached, or if the maximum number
/// of tasks is below 1, the settings switch task migration off instead. `variable` is getenv.
/// Throws Error if a value is not a number or is negative.
std::string settings_of(const std::function<const char*(const char*)>& variable);

}  // namespace poise::chameleon
