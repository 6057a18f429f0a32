// SPDX-License-Identifier: BSD-3-Clause
// Lists the knobs of strategies and generators.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "poise/base/knobs.h"

namespace poise::apps {

/// Formats a value as a number such as "0.5" or as the name of a choice.
std::string value_text(const Knob& knob, double value);

/// Formats each knob as two indented lines: first `alpha=1e-05  (0 to 1)`, then what the knob does.
std::string list_of(std::span<const Knob> knobs, int indent);

nlohmann::ordered_json json_of(std::span<const Knob> knobs);

}  // namespace poise::apps
