// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/timeline.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <simdjson.h>
#include <utility>

#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/trace/chrome.h"

namespace poise {

namespace {

using simdjson::dom::element;

/// Identifies a row of time slices in the file: the number of the row's group, and the row's number
/// in this group.
using RowId = std::pair<std::int64_t, std::int64_t>;

/// The name of a time slice in which a place works on tasks that another place has lent to it.
constexpr std::string_view kBorrowed = "borrowed";

/// The maximum time in a timeline: the same limit as for the load of a task in a trace, 1e15 s.
constexpr double kMax_us = 1e21;

struct Rows {
  std::map<RowId, std::vector<Span>> spans;
  std::map<std::int64_t, std::string> group_names;
  std::map<RowId, std::string> row_names;
};

/// Returns this field of an event, or nothing if the field is missing or has another type.
template <typename T>
std::optional<T> field(const element& event, std::string_view name) {
  T value;
  if (event[name].get(value) != simdjson::SUCCESS) return {};
  return value;
}

std::optional<Activity> activity_of(const element& event) {
  const auto category = field<std::string_view>(event, "cat");
  const auto found = std::find(kActivities.begin(), kActivities.end(), category.value_or(""));
  if (found == kActivities.end()) return {};
  return static_cast<Activity>(found - kActivities.begin());
}

RowId row_of(const element& event, const std::string& where) {
  const auto group = field<std::int64_t>(event, "pid"), row = field<std::int64_t>(event, "tid");
  if (!group) fail("{}: the field \"pid\" must be an integer", where);
  return {*group, row.value_or(0)};
}

Span span_of(const element& event, Activity activity, const std::string& where) {
  const auto start_us = field<double>(event, "ts"), time_us = field<double>(event, "dur");
  if (!start_us || !time_us)
    fail("{}: the fields \"ts\" (start) and \"dur\" (duration) must be numbers", where);
  const auto is_time = [](double us) { return 0 <= us && us <= kMax_us; };
  if (!is_time(*start_us) || !is_time(*time_us))
    fail("{} begins at {} us and lasts {} us; both must be from 0 to {} us", where, *start_us,
         *time_us, kMax_us);
  const bool is_borrowed = field<std::string_view>(event, "name") == kBorrowed;
  return {*start_us / 1e6, (*start_us + *time_us) / 1e6, activity, is_borrowed};
}

/// Returns the name that a metadata event gives to a group or a row.
std::string name_in(const element& event) {
  std::string_view name;
  if (event["args"]["name"].get(name) != simdjson::SUCCESS) return "";
  return std::string(name);
}

void add(Rows& rows, const element& event, const std::string& where) {
  const std::string_view kind = field<std::string_view>(event, "ph").value_or("");
  const std::string_view name = field<std::string_view>(event, "name").value_or("");
  const auto activity = activity_of(event);
  if (kind == "X" && activity)
    rows.spans[row_of(event, where)].push_back(span_of(event, *activity, where));
  else if (kind == "M" && name == "process_name")
    rows.group_names[row_of(event, where).first] = name_in(event);
  else if (kind == "M" && name == "thread_name")
    rows.row_names[row_of(event, where)] = name_in(event);
}

/// Adds an empty row to each group of rows that has no time slices: such a group is an idle place.
void add_idle_groups(Rows& rows) {
  for (const auto& [group, name] : rows.group_names) {
    const auto first = rows.spans.lower_bound({group, INT64_MIN});
    if (first == rows.spans.end() || first->first.first != group) rows.spans[{group, 0}] = {};
  }
}

/// Sorts slices by time, and cuts off the part of a slice that overlaps earlier slices.
std::vector<Span> without_overlaps(std::vector<Span> spans) {
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.start_s < b.start_s; });
  double until_s = 0;
  std::vector<Span> result;
  for (Span span : spans) {
    span.start_s = std::max(span.start_s, until_s);
    until_s = std::max(until_s, span.end_s);
    if (span.start_s < span.end_s) result.push_back(span);
  }
  return result;
}

/// Returns the name of the group, such as "rank 0". If the group has several rows, adds the name of
/// the row, as in "rank 0, thread 1".
std::string label_of(const Rows& rows, RowId id) {
  const auto group = rows.group_names.find(id.first);
  std::string label =
      group == rows.group_names.end() ? fmt::format("process {}", id.first) : group->second;
  const auto begin = rows.spans.lower_bound({id.first, INT64_MIN});
  const auto end = rows.spans.upper_bound({id.first, INT64_MAX});
  if (std::next(begin) == end) return label;
  const auto row = rows.row_names.find(id);
  return label + ", " +
         (row == rows.row_names.end() ? fmt::format("row {}", id.second) : row->second);
}

Timeline timeline_of(Rows rows) {
  add_idle_groups(rows);
  Timeline timeline;
  bool are_numbers = true;  // every name is the default name "place N" of a place
  for (const auto& [id, spans] : rows.spans) {
    timeline.names.push_back(label_of(rows, id));
    are_numbers &= timeline.names.back() == fmt::format("place {}", timeline.places.size());
    timeline.places.push_back(without_overlaps(spans));
  }
  if (are_numbers) timeline.names.clear();
  return timeline;
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
  for (const Span& span : spans) seconds[index_of(span.activity)] += span.end_s - span.start_s;
  return seconds;
}

std::string name_of(const Timeline& timeline, std::size_t place) {
  return timeline.names.empty() ? fmt::format("place {}", place) : timeline.names[place];
}

void write_timeline(const Timeline& timeline, const std::string& path) {
  ChromeTrace trace;
  for (std::size_t p = 0; p < timeline.places.size(); ++p) {
    const std::int64_t group = p;
    trace.name_group(group, name_of(timeline, p));
    for (const Span& span : timeline.places[p]) {
      const std::string_view activity = kActivities[index_of(span.activity)];
      const std::string_view name = span.is_borrowed ? kBorrowed : activity;
      trace.slice({group, 0}, name, activity, span.start_s, span.end_s);
    }
  }
  write_file(path, trace.text(timeline.title));
}

Timeline read_timeline(const std::string& path) {
  const std::string text = read_file(path);
  if (text.empty()) fail("{}: the file is empty", path);
  return timeline_from_text(path, text);
}

Timeline timeline_from_text(const std::string& path, std::string_view text) {
  simdjson::dom::parser parser;
  element file;
  simdjson::dom::array events;
  if (parser.parse(text.data(), text.size()).get(file) != simdjson::SUCCESS ||
      file["traceEvents"].get(events) != simdjson::SUCCESS)
    fail(
        "{}: the file is not a timeline; record one with POISE_TIMELINE, POISE_TASKS_TRACE or "
        "poise juggle --trace",
        path);
  Rows rows;
  std::size_t number = 0;
  for (const element event : events) add(rows, event, fmt::format("{}: event {}", path, number++));
  if (rows.spans.empty() && rows.group_names.empty())
    fail("{}: the file shows no activity; at least one event must have the category {}", path,
         fmt::join(kActivities, " or "));
  Timeline timeline = timeline_of(std::move(rows));
  std::string_view title = path;
  if (file["otherData"]["title"].get(title) != simdjson::SUCCESS) title = path;
  timeline.title = title;
  return timeline;
}

}  // namespace poise
