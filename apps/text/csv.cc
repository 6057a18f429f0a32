// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/csv.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace poise::apps {

namespace {

using Json = nlohmann::ordered_json;
using Fields = std::vector<std::pair<std::string, std::string>>;

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += c;
    out += c;
  }
  out += '"';
  return out;
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? csv_field(value.get<std::string>()) : value.dump();
}

void flatten(const Json& object, const std::string& prefix, Fields& fields) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object())
      flatten(value, prefix + key + "_", fields);
    else
      fields.emplace_back(prefix + key, text_of(value));
  }
}

}  // namespace

std::string csv_of(const Json& rows) {
  std::vector<std::string> names;
  std::vector<Fields> lines;
  for (const Json& row : rows) {
    flatten(row, "", lines.emplace_back());
    for (const auto& [name, value] : lines.back())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text = fmt::format("{}\n", fmt::join(names, ","));
  for (const Fields& fields : lines) {
    std::vector<std::string_view> values;
    for (const std::string& name : names) {
      const auto found = std::find_if(fields.begin(), fields.end(),
                                      [&](const auto& field) { return field.first == name; });
      values.push_back(found == fields.end() ? std::string_view() : found->second);
    }
    fmt::format_to(std::back_inserter(text), "{}\n", fmt::join(values, ","));
  }
  return text;
}

}  // namespace poise::apps
