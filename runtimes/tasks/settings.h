// Settings of a context: a table of knobs, set by the program and by POISE_TASKS_* variables.
#pragma once

#include <span>
#include <string_view>

#include "poise/base/knobs.h"

namespace poise::tasks {

std::span<const Knob> setting_knobs();

/// The initial values, changed by `program` ("policy=paired,pull=0"), changed by the environment
/// (POISE_TASKS_POLICY=paired). Throws Error on unknown names, also of variables, and bad values.
Knobs read_settings(std::string_view program);

}  // namespace poise::tasks
