// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/timeline.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise {

namespace {

using Json = nlohmann::json;

Span span_of(const Json& json, const std::string& where) {
  const bool is_span = json.is_array() && json.size() == 3 && json[0].is_number() &&
                       json[1].is_number() && json[2].is_number_unsigned();
  if (!is_span) fail("{}: a span must have the form [start, end, activity]", where);
  const Span span{json[0], json[1], static_cast<Activity>(json[2].get<std::uint8_t>())};
  if (json[2].get<std::uint64_t>() >= kActivities.size())
    fail("{}: {} is not the number of an activity", where, json[2].get<std::uint64_t>());
  if (!(std::isfinite(span.end_s) && 0 <= span.start_s && span.start_s <= span.end_s))
    fail("{}: a span may not last from {} to {} s", where, span.start_s, span.end_s);
  return span;
}

std::vector<Span> spans_of(const Json& json, const std::string& where) {
  if (!json.is_array()) fail("{}: the spans of a place must be an array", where);
  std::vector<Span> spans;
  for (const Json& item : json) {
    spans.push_back(span_of(item, where));
    if (spans.size() > 1 && spans.back().start_s < spans[spans.size() - 2].end_s)
      fail("{}: spans overlap at {} s", where, spans.back().start_s);
  }
  return spans;
}

}  // namespace

double end_s(const Timeline& timeline) {
  double end = 0;
  for (const std::vector<Span>& spans : timeline.places)
    if (!spans.empty()) end = std::max(end, spans.back().end_s);
  return end;
}

std::array<double, 3> seconds_of(const std::vector<Span>& spans) {
  std::array<double, 3> seconds{};
  for (const Span& span : spans)
    seconds[static_cast<std::size_t>(span.activity)] += span.end_s - span.start_s;
  return seconds;
}

void write_timeline(const Timeline& timeline, const std::string& path) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{{\"poise_timeline\":1,\"title\":{},\"places\":[",
                 Json(timeline.title).dump());
  for (std::size_t p = 0; p < timeline.places.size(); ++p) {
    fmt::format_to(out, "{}\n[", p == 0 ? "" : ",");
    const char* separator = "";
    for (const Span& span : timeline.places[p]) {
      fmt::format_to(out, "{}[{:.7f},{:.7f},{}]", separator, span.start_s, span.end_s,
                     static_cast<int>(span.activity));
      separator = ",";
    }
    fmt::format_to(out, "]");
  }
  fmt::format_to(out, "]}}\n");
  write_file(path, fmt::to_string(text));
}

Timeline read_timeline(const std::string& path) {
  const std::string text = read_file(path);
  if (text.empty()) fail("{}: the file is empty", path);
  return timeline_from_text(path, text);
}

Timeline timeline_from_text(const std::string& path, std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("poise_timeline") || !json.contains("places") ||
      !json["places"].is_array())
    fail("{}: it is not a timeline; record one with POISE_TIMELINE", path);
  Timeline timeline;
  if (json.contains("title") && json["title"].is_string()) timeline.title = json["title"];
  for (const Json& place : json["places"])
    timeline.places.push_back(
        spans_of(place, fmt::format("{}: place {}", path, timeline.places.size())));
  return timeline;
}

}  // namespace poise
