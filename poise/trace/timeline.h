// SPDX-License-Identifier: BSD-3-Clause
// A timeline, as in Charm++'s Projections: what every place did during a run. All runtimes write it
// in the format of Perfetto and Chrome (docs/formats.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

enum class Activity : std::uint8_t {
  work,     // runs tasks
  wait,     // sends or receives messages, or waits
  balance,  // measures, decides and migrates
};
/// Names of the activities. In a timeline file, the category of an event is one of these names.
inline constexpr std::array<std::string_view, 3> kActivities{"work", "wait", "balance"};

/// One activity of a place. Times are in seconds since the start of the run.
struct Span {
  double start_s = 0, end_s = 0;
  Activity activity = Activity::work;
  bool is_borrowed = false;  // work that another place has lent to this one
  friend bool operator==(const Span&, const Span&) = default;
};

struct Timeline {
  std::string title;                      // "leanmd, strategy poise"
  std::vector<std::vector<Span>> places;  // per place, by time; what happened in gaps is unknown
  std::vector<std::string> names = {};    // per place; empty: place 0, place 1, …
};

/// Returns the time at which the last span ends.
double end_s(const Timeline& timeline);

/// Seconds of each activity at a place, in the order of kActivities.
std::array<double, 3> seconds_of(const std::vector<Span>& spans);

/// The name of a place, such as "place 3" or "rank 0, thread 1".
std::string name_of(const Timeline& timeline, std::size_t place);

/// Writes a file for Perfetto. If this fails, throws Error naming the path and leaves no partial
/// file.
void write_timeline(const Timeline& timeline, const std::string& path);

/// Reads a timeline that a runtime wrote. Each row of the file, such as a thread of a rank, becomes
/// a place if it has events whose category is an activity. If events in a row overlap, the overlap
/// counts only for the event that began first. Throws Error naming the path and what is wrong.
Timeline read_timeline(const std::string& path);
/// Reads a timeline from text.
Timeline timeline_from_text(const std::string& path, std::string_view text);

}  // namespace poise
