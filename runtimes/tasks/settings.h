// SPDX-License-Identifier: BSD-3-Clause
// The settings of a context: a table of knobs that the program and POISE_TASKS_* variables set.
#pragma once

#include <span>
#include <string_view>

#include "poise/base/knobs.h"

namespace poise::tasks {

std::span<const Knob> setting_knobs();

/// Changes the settings that `text` names, for example "policy=paired,pull=0". The text comes from
/// the program. Throws Error if it is wrong.
void apply_program(Knobs& settings, std::string_view text);

/// Changes settings by environment variables: POISE_TASKS_POLICY=paired sets `policy`.
/// `environment` is a list of texts NAME=VALUE and ends with a null pointer. Throws an Error that
/// names the variable and says what would work.
void apply_environment(Knobs& settings, const char* const* environment);

}  // namespace poise::tasks
