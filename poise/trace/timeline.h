// What every place did over the time of a run: the data of a picture such as Projections draws.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

enum class Activity : std::uint8_t {
  work,     // runs tasks
  wait,     // carries messages, or waits for them and for others
  balance,  // measures, decides and migrates
};
inline constexpr std::array<std::string_view, 3> kActivities{"work", "wait", "balance"};

/// Seconds since the run began.
struct Span {
  double start_s = 0, end_s = 0;
  Activity activity = Activity::work;
  friend bool operator==(const Span&, const Span&) = default;
};

struct Timeline {
  std::string title;                      // "leanmd, strategy poise"
  std::vector<std::vector<Span>> places;  // in order of time; gaps are nobody's business
};

/// When the last of them ended.
double end_s(const Timeline& timeline);

/// Seconds of each activity at a place, in the order of kActivities.
std::array<double, 3> seconds_of(const std::vector<Span>& spans);

/// JSON, see docs/formats.md. Throws Error naming the path; nothing is half-written.
void write_timeline(const Timeline& timeline, const std::string& path);

/// Throws Error naming the path and what is wrong.
Timeline read_timeline(const std::string& path);
/// The same from a file's text.
Timeline timeline_from_text(const std::string& path, std::string_view text);

}  // namespace poise
