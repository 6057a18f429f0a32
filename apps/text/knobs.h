// SPDX-License-Identifier: BSD-3-Clause
// Lists the knobs of strategies and generators.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "poise/base/knobs.h"

namespace poise::apps {

/// The value as text, "0.5", or the name of a choice.
std::string value_text(const Knob& knob, double value);

/// One indented line per knob: `alpha=1e-05  0 to 1: weight of …`.
std::string list_of(std::span<const Knob> knobs, int indent);

nlohmann::ordered_json json_of(std::span<const Knob> knobs);

}  // namespace poise::apps
