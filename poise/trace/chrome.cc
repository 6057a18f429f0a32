// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/chrome.h"

#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace poise {

namespace {

/// Returns the text as a JSON string, with quotes. Bytes that are not UTF-8 are replaced.
std::string in_quotes(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Rounds to whole nanoseconds, so that a slice that begins when another ends also does so in the
/// file.
double nanoseconds(double seconds) { return std::round(1e9 * seconds); }

}  // namespace

void ChromeTrace::begin(char kind, std::string_view name, Row at) {
  fmt::format_to(std::back_inserter(events_), "{}{{\"ph\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{}",
                 events_.empty() ? "" : ",\n", kind, in_quotes(name), at.group, at.row);
}

void ChromeTrace::name_group(std::int64_t group, std::string_view name) {
  begin('M', "process_name", {group, 0});
  events_ += fmt::format(",\"args\":{{\"name\":{}}}}}", in_quotes(name));
}

void ChromeTrace::name_row(Row row, std::string_view name) {
  begin('M', "thread_name", row);
  events_ += fmt::format(",\"args\":{{\"name\":{}}}}}", in_quotes(name));
}

void ChromeTrace::slice(Row row, std::string_view name, std::string_view category, double from_s,
                        double to_s, const Notes& notes) {
  begin('X', name, row);
  fmt::format_to(std::back_inserter(events_), ",\"cat\":\"{}\",\"ts\":{:.3f},\"dur\":{:.3f}",
                 category, nanoseconds(from_s) / 1e3,
                 (nanoseconds(to_s) - nanoseconds(from_s)) / 1e3);
  const char* separator = ",\"args\":{";
  for (const auto& [note, text] : notes) {
    events_ += fmt::format("{}{}:{}", separator, in_quotes(note), in_quotes(text));
    separator = ",";
  }
  events_ += notes.empty() ? "}" : "}}";
}

void ChromeTrace::arrow(Row from, double from_s, Row to, double to_s, std::string_view name) {
  const std::uint64_t id = ++num_arrows_;
  for (const bool is_start : {true, false}) {
    begin(is_start ? 's' : 'f', name, is_start ? from : to);
    events_ +=
        fmt::format(",\"cat\":{},\"id\":{},\"ts\":{:.3f}{}}}", in_quotes(name), id,
                    nanoseconds(is_start ? from_s : to_s) / 1e3, is_start ? "" : ",\"bp\":\"e\"");
  }
}

std::string ChromeTrace::text(std::string_view title) const {
  return fmt::format(
      "{{\"displayTimeUnit\":\"ms\"{},\"traceEvents\":[\n{}]}}\n",
      title.empty() ? "" : fmt::format(",\"otherData\":{{\"title\":{}}}", in_quotes(title)),
      events_);
}

}  // namespace poise
