// SPDX-License-Identifier: BSD-3-Clause
// A callback with which a JSON parser refuses repeated keys. Without the callback, the parser would
// use the last value of a repeated key.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "poise/base/error.h"

namespace poise {

/// Returns a callback for nlohmann::json::parse(). It throws Error naming the file if an object has
/// the same key twice.
inline nlohmann::json::parser_callback_t refusing_repeated_keys(const std::string& file) {
  using Event = nlohmann::json::parse_event_t;
  return [file, keys = std::vector<std::set<std::string>>()](int, Event event,
                                                             const nlohmann::json& value) mutable {
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
      fail("{}: the key \"{}\" is given twice in one JSON object; give it once", file,
           value.get<std::string>());
    return true;
  };
}

}  // namespace poise
