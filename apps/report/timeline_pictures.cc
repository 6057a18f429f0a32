// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/timeline_pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <span>

#include "apps/report/html.h"
#include "apps/report/page_script.h"
#include "apps/report/page_table.h"
#include "apps/text/format.h"

#include "poise/base/enum_index.h"

namespace poise::apps {

namespace {

constexpr std::size_t kMaxRows = 128;
constexpr int kColumns = 720, kShades = 12;
constexpr double kLeft = 36, kTop = 4, kWidth = kColumns;
constexpr double kLetter = 6;  // width in SVG units of the widest letter of a place's name
constexpr double kShareWidth = 400, kShareHeight = 120, kShareBottom = kTop + 6 + kShareHeight;

constexpr std::array<const char*, 3> kClasses{"work", "idle", "deciding"};  // by Activity
constexpr std::array<std::size_t, 3> kFromBelow{0, 2, 1};                   // work, balance, wait

/// The seconds of each activity in every column of the picture.
std::vector<std::array<double, 3>> columns_of(const std::vector<Span>& spans, double until_s) {
  std::vector<std::array<double, 3>> columns(kColumns);
  const double column_s = until_s / kColumns;
  for (const Span& span : spans) {
    const auto activity = index_of(span.activity);
    for (int c = std::clamp(static_cast<int>(span.start_s / column_s), 0, kColumns - 1);
         c < kColumns && c * column_s < span.end_s; ++c)
      columns[c][activity] += std::max(
          0.0, std::min(span.end_s, (c + 1) * column_s) - std::max(span.start_s, c * column_s));
  }
  return columns;
}

/// Returns the share of each activity in a column, in units of 1 / kShades. Shares are rounded, so
/// that neighbouring columns are often equal and can be drawn as one rectangle.
std::array<int, 3> heights_of(const std::array<double, 3>& column, double column_s) {
  std::array<int, 3> heights{};
  for (std::size_t a = 0; a < 3; ++a) heights[a] = std::lround(kShades * column[a] / column_s);
  return heights;
}

/// Draws the row of a place as one SVG path per activity. Neighbouring columns with equal shares
/// are drawn as one rectangle.
std::string row_of(const std::vector<Span>& spans, double until_s, double y, double height) {
  const auto columns = columns_of(spans, until_s);
  std::array<std::string, 3> paths;
  for (std::size_t c = 0; c < columns.size();) {
    const std::array<int, 3> heights = heights_of(columns[c], until_s / kColumns);
    std::size_t end = c + 1;
    while (end < columns.size() && heights_of(columns[end], until_s / kColumns) == heights) ++end;
    double below = y + height;
    for (const std::size_t a : kFromBelow) {
      const double part = std::min(height * heights[a] / kShades, below - y);
      if (part <= 0) continue;
      below -= part;
      fmt::format_to(std::back_inserter(paths[a]), "M{:.6g} {:.6g}h{}v{:.4g}h-{}z", kLeft + c,
                     below, end - c, part, end - c);
    }
    c = end;
  }
  std::string out;
  for (std::size_t a = 0; a < 3; ++a)
    if (!paths[a].empty())
      out += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", kClasses[a], paths[a]);
  return out;
}

std::string time_axis(double until_s, double bottom) {
  const Unit unit = time_unit(until_s);
  std::string out;
  for (const double tick : axis_ticks(until_s / unit.value, 10)) {
    const double x = kLeft + kWidth * tick * unit.value / until_s;
    out += svg_line(x, bottom, x, bottom + 4, "rule");
    out += svg_text(x, bottom + 16, "faint", fmt::format("{:.6g}", tick));
  }
  return out + svg_text(kLeft + kWidth + 16, bottom + 16, "start faint", unit.name);
}

std::string label_of(const Timeline& timeline, std::size_t place) {
  return timeline.names.empty() ? fmt::format("{}", place) : timeline.names[place];
}

double label_width(const Timeline& timeline) {
  std::size_t letters = 0;
  for (const std::string& name : timeline.names) letters = std::max(letters, name.size());
  return 10 + kLetter * letters;
}

std::size_t places_per_bar(const Timeline& timeline) {
  return std::max<std::size_t>(1, (timeline.places.size() + kMaxRows - 1) / kMaxRows);
}

/// Returns the time at which the interval of shares_of() begins: the end of the last decision. If
/// there was no decision, or if the timeline ends with it, returns the start of the first span.
double shares_from_s(const Timeline& timeline) {
  double first_s = end_s(timeline), decided_s = 0;
  for (const std::vector<Span>& spans : timeline.places)
    for (const Span& span : spans) {
      first_s = std::min(first_s, span.start_s);
      if (span.activity == Activity::balance) decided_s = std::max(decided_s, span.end_s);
    }
  return decided_s > 0 && decided_s < end_s(timeline) ? decided_s : first_s;
}

/// Returns, for each place, the fraction of the time since shares_from_s() that it spent in each
/// activity.
std::vector<std::array<double, 3>> shares_of(const Timeline& timeline) {
  const double from_s = shares_from_s(timeline), time_s = end_s(timeline) - from_s;
  std::vector<std::array<double, 3>> shares;
  for (std::vector<Span> spans : timeline.places) {
    for (Span& span : spans) {
      span.start_s = std::max(span.start_s, from_s);
      span.end_s = std::max(span.end_s, from_s);
    }
    std::array<double, 3>& seconds = shares.emplace_back(seconds_of(spans));
    for (double& value : seconds) value = time_s > 0 ? value / time_s : 0;
  }
  return shares;
}

using Shares = std::span<const std::array<double, 3>>;

std::array<double, 3> mean_of(Shares shares) {
  std::array<double, 3> mean{};
  for (const auto& share : shares)
    for (std::size_t a = 0; a < mean.size(); ++a) mean[a] += share[a] / shares.size();
  return mean;
}

double busiest_of(Shares shares) {
  double busiest = 0;
  for (const auto& share : shares) busiest = std::max(busiest, share[0]);
  return busiest;
}

/// Returns a text such as "from 1.200 s on, the busiest place works 98% of the time, the average
/// 64%".
std::string share_text(const Timeline& timeline) {
  const auto shares = shares_of(timeline);
  const double from_s = shares_from_s(timeline);
  return fmt::format("{}the busiest place works {:.0f}% of the time, the average {:.0f}%",
                     from_s > 0 ? fmt::format("from {} on, ", seconds_text(from_s)) : "",
                     100 * busiest_of(shares), 100 * mean_of(shares)[0]);
}

/// Draws the activities of the places [first, end) as one bar from `x` on.
std::string share_bar(const Timeline& timeline, Shares shares, std::size_t first, double x,
                      double width) {
  const std::array<double, 3> mean = mean_of(shares);
  const double busiest = busiest_of(shares);
  const bool is_one = shares.size() == 1;
  const std::string note =
      is_one ? fmt::format("{} works {:.0f}% of the time", name_of(timeline, first), 100 * mean[0])
             : fmt::format("{} to {} work {:.0f}% of the time on average, the busiest {:.0f}%",
                           name_of(timeline, first), name_of(timeline, first + shares.size() - 1),
                           100 * mean[0], 100 * busiest);
  std::string out;
  double below = kShareBottom;
  for (const std::size_t a : kFromBelow) {
    const double part = kShareHeight * std::min(mean[a], 1.0);
    below -= part;
    out += svg_box(x + width * 0.08, below, width * 0.84, part, kClasses[a], note);
  }
  const double y = kShareBottom - kShareHeight * std::min(busiest, 1.0);
  return is_one ? out : out + svg_line(x, y, x + width, y, "peak");
}

/// Labels bars with the names of places. If names are too long, labels bars with row numbers.
std::string share_axis(const Timeline& timeline) {
  const double width = label_width(timeline), places = timeline.places.size();
  const bool has_room = width <= 2 * kLeft;
  const int most = has_room ? std::min<int>(8, kShareWidth / width) : 8;
  std::string out;
  for (const double tick : axis_ticks(places - 1, most))
    if (tick == std::floor(tick) && tick < places)
      out += svg_text(kLeft + (tick + 0.5) * kShareWidth / places, kShareBottom + 14, "faint",
                      has_room ? label_of(timeline, tick) : fmt::format("{}", tick));
  const std::string title =
      axis_title(timeline.names.empty() || has_room ? "place" : "row in the timeline (first: 0)",
                 places_per_bar(timeline), "the busiest");
  return out + svg_text(kLeft + kShareWidth / 2, kShareBottom + 29, "faint", title);
}

std::string_view program_of(const Timeline& timeline) {
  return std::string_view(timeline.title).substr(0, timeline.title.find(','));
}

/// Returns the length of the longest timeline that shows the same program as `like`. All timelines
/// of a program are drawn with the same time axis.
double longest_s(const std::vector<Timeline>& timelines, const Timeline& like) {
  double longest = 1e-9;
  for (const Timeline& timeline : timelines)
    if (program_of(timeline) == program_of(like)) longest = std::max(longest, end_s(timeline));
  return longest;
}

}  // namespace

std::string timeline_picture(const Timeline& timeline, double until_s, std::string_view label) {
  const std::size_t rows = std::min(timeline.places.size(), kMaxRows);
  const double pitch = rows <= 16 ? 24 : 400.0 / rows;
  const double gap = std::min(3.0, pitch * 0.15);
  std::string out;
  for (std::size_t p = 0; p < rows; ++p) {
    const double y = kTop + pitch * p;
    if (rows <= 32 || p % 8 == 0)
      out += svg_text(kLeft - 5, y + pitch / 2 + 3, "end faint", label_of(timeline, p));
    out += row_of(timeline.places[p], until_s, y, pitch - gap);
  }
  const double bottom = kTop + pitch * rows;
  out += time_axis(until_s, bottom);
  const double shift = label_width(timeline) - kLeft;
  if (shift > 0) out = fmt::format("<g transform=\"translate({} 0)\">\n{}</g>\n", shift, out);
  return svg(kLeft + kWidth + 40 + std::max(shift, 0.0), bottom + 22, label, out);
}

std::string shares_picture(const Timeline& timeline, std::string_view label) {
  const auto shares = shares_of(timeline);
  std::string out;
  for (const int percent : {0, 50, 100}) {
    const double y = kShareBottom - kShareHeight * percent / 100;
    out += svg_line(kLeft, y, kLeft + kShareWidth, y, "rule");
    out += svg_text(kLeft - 5, y + 4, "end faint", fmt::format("{}%", percent));
  }
  const std::size_t per_bar = places_per_bar(timeline);
  const double step = kShareWidth / shares.size();
  for (std::size_t first = 0; first < shares.size(); first += per_bar) {
    const std::size_t count = std::min(per_bar, shares.size() - first);
    out += share_bar(timeline, Shares(shares).subspan(first, count), first, kLeft + step * first,
                     step * count);
  }
  return svg(kLeft + kShareWidth + 24, kShareBottom + 36, label, out + share_axis(timeline));
}

std::string timelines_html(const std::vector<Timeline>& timelines, std::string_view origin) {
  if (timelines.empty()) return "";
  std::string out = fmt::format(
      "<section id=\"timelines\">\n<h2>What every place did</h2>\n<p class=\"faint\"><span "
      "class=\"key work\"></span>worked<span class=\"key idle\"></span>carried messages or waited"
      "<span class=\"key deciding\"></span>measured, decided and migrated; blank: not recorded. "
      "{}; times count from the start of each run.</p>\n",
      origin);
  std::vector<std::string> shares;
  for (const Timeline& timeline : timelines) {
    const std::string title = escaped(timeline.title);
    const std::size_t places = timeline.places.size();
    std::string caption = fmt::format("<b>{}</b>: {}", title, seconds_text(end_s(timeline)));
    if (places > kMaxRows)
      caption += fmt::format("; the first {} of {} places", kMaxRows, count_text(places));
    out += "<div class=\"scroll wide\" tabindex=\"0\">" +
           html_figure(timeline_picture(timeline, longest_s(timelines, timeline),
                                        "What every place did over time: " + timeline.title),
                       caption) +
           "</div>\n";
    shares.push_back(html_figure(
        shares_picture(timeline, "Share of time at work of each place: " + timeline.title),
        fmt::format("<b>{}</b>: {}", title, share_text(timeline))));
  }
  out +=
      "<h3>The load of every place</h3>\n<p class=\"faint\">After the last decision or, without "
      "one, from the first record on.</p>\n";
  for (std::size_t i = 0; i < shares.size(); i += 2)
    out += html_row({shares.begin() + i, shares.begin() + std::min(i + 2, shares.size())});
  return out + "</section>\n";
}

std::string timelines_page(const std::vector<Timeline>& timelines, std::string_view data) {
  std::string tables = "<section>\n<h2>Seconds of every place</h2>\n";
  for (const Timeline& timeline : timelines) {
    std::vector<PageRow> rows;
    for (std::size_t p = 0; p < timeline.places.size(); ++p) {
      PageRow& row = rows.emplace_back(PageRow{name_of(timeline, p), {}});
      for (const double seconds : seconds_of(timeline.places[p]))
        row.cells.push_back(seconds_cell(seconds));
    }
    tables += fmt::format("<h3>{}</h3>\n", escaped(timeline.title)) +
              page_table(timeline.title, {"place", "worked", "waited", "balanced"}, rows);
  }
  const std::string& first = timelines.front().title;
  return html_page("Poise: " + first,
                   fmt::format("<header><h1>Timelines</h1>\n<p class=\"faint\">{}</p>\n"
                               "{}</header>\n<main>\n{}{}</section>\n</main>\n",
                               count_text(timelines.size(), "recorded run"), download_html(data),
                               timelines_html(timelines, "As recorded"), tables));
}

}  // namespace poise::apps
