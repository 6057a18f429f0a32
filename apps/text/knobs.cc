// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/knobs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace poise::apps {

std::string value_text(const Knob& knob, double value) {
  return knob.choices.empty() ? fmt::format("{}", value)
                              : std::string(knob.choices[static_cast<std::size_t>(value)]);
}

std::string list_of(std::span<const Knob> knobs, int indent) {
  std::string text;
  for (const Knob& knob : knobs) {
    const std::string range = knob.choices.empty()
                                  ? fmt::format("{} to {}", knob.min, knob.max)
                                  : fmt::format("{}", fmt::join(knob.choices, ", "));
    text += fmt::format("{:{}}{}={}  ({})\n{:{}}  {}\n", "", indent, knob.name,
                        value_text(knob, knob.initial), range, "", indent, knob.help);
  }
  return text;
}

nlohmann::ordered_json json_of(std::span<const Knob> knobs) {
  auto list = nlohmann::ordered_json::array();
  for (const Knob& knob : knobs) {
    nlohmann::ordered_json row{{"name", knob.name}, {"help", knob.help}};
    if (knob.choices.empty()) {
      row.update({{"initial", knob.initial}, {"min", knob.min}, {"max", knob.max}});
    } else {
      row["initial"] = value_text(knob, knob.initial);
      row["choices"] = std::vector<std::string>(knob.choices.begin(), knob.choices.end());
    }
    list.push_back(row);
  }
  return list;
}

}  // namespace poise::apps
