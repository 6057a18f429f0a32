// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/placement_file.h"

#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/repeated_keys.h"
#include "poise/base/text.h"
#include "poise/machine/limits.h"
#include "poise/trace/lines.h"

namespace poise {

namespace {

constexpr PlaceId kMaxPlace = kMaxPlaces - 1;

Placement placement_from_json(const std::string& name, std::string_view text) {
  using nlohmann::json;
  const json document = json::parse(text, refusing_repeated_keys(name), false);
  if (document.is_discarded())
    fail("{}: the file contains neither lines of place numbers nor JSON", name);
  if (!document.is_object() || !document.contains("placement") || !document["placement"].is_array())
    fail("{}: the JSON has no list \"placement\"", name);
  std::vector<PlaceId> places;
  for (const json& place : document["placement"]) {
    if (!place.is_number_unsigned() || place.get<std::uint64_t>() > kMaxPlace)
      fail("{}: item {} of \"placement\" is not a place number", name, places.size());
    places.push_back(place.get<PlaceId>());
  }
  return Placement(std::move(places));
}

}  // namespace

Placement placement_from_text(const std::string& name, std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) fail("{}: the file is empty", name);
  if (text[first] == '{' || text[first] == '[') return placement_from_json(name, text);

  std::vector<PlaceId> places;
  Lines lines(name, text);
  while (auto number = lines.next()) {
    if (number->ends_with('\r')) number->remove_suffix(1);
    const auto place = parse_unsigned(*number);
    if (!place || *place > kMaxPlace)
      lines.fail_here("\"{}\" is not a place number", number->substr(0, 40));
    places.push_back(*place);
  }
  return Placement(std::move(places));
}

Placement read_placement(const std::string& path) {
  return placement_from_text(path, without_byte_order_mark(read_file(path)));
}

std::string placement_to_text(const Placement& placement) {
  std::string text;
  for (const PlaceId place : placement.places())
    fmt::format_to(std::back_inserter(text), "{}\n", place);
  return text;
}

void write_placement(const std::string& path, const Placement& placement) {
  if (!path.ends_with(".json")) return write_file(path, placement_to_text(placement));
  write_file(path, fmt::format("{{\"tasks\":{},\n\"placement\":[{}]}}\n", placement.num_tasks(),
                               fmt::join(placement.places(), ",")));
}

}  // namespace poise
