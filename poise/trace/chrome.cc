// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/chrome.h"

#include <nlohmann/json.hpp>

namespace poise {

namespace {

using Json = nlohmann::ordered_json;

Json event(const char* kind, const std::string& name, ChromeTrace::Row at) {
  return {{"ph", kind}, {"name", name}, {"pid", at.group}, {"tid", at.row}};
}

}  // namespace

struct ChromeTrace::Events {
  Json list = Json::array();
  std::uint64_t num_arrows = 0;
};

ChromeTrace::ChromeTrace() : events_(std::make_unique<Events>()) {}
ChromeTrace::~ChromeTrace() = default;

void ChromeTrace::name_group(std::int64_t group, const std::string& name) {
  events_->list.push_back(
      {{"ph", "M"}, {"name", "process_name"}, {"pid", group}, {"args", {{"name", name}}}});
}

void ChromeTrace::name_row(Row row, const std::string& name) {
  Json naming = event("M", "thread_name", row);
  naming["args"] = {{"name", name}};
  events_->list.push_back(std::move(naming));
}

void ChromeTrace::slice(Row row, const std::string& name, double from_s, double to_s,
                        const Notes& notes) {
  Json slice = event("X", name, row);
  slice["ts"] = 1e6 * from_s;
  slice["dur"] = 1e6 * (to_s - from_s);
  for (const auto& [note, text] : notes) slice["args"][note] = text;
  events_->list.push_back(std::move(slice));
}

void ChromeTrace::arrow(Row from, double from_s, Row to, double to_s, const std::string& name) {
  const std::uint64_t id = ++events_->num_arrows;
  for (const bool is_start : {true, false}) {
    Json end = event(is_start ? "s" : "f", name, is_start ? from : to);
    end["cat"] = name;
    end["id"] = id;
    end["ts"] = 1e6 * (is_start ? from_s : to_s);
    if (!is_start) end["bp"] = "e";
    events_->list.push_back(std::move(end));
  }
}

std::string ChromeTrace::text() const {
  return Json{{"traceEvents", events_->list}, {"displayTimeUnit", "ms"}}.dump() + "\n";
}

}  // namespace poise
