// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/pictures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "apps/report/html.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

constexpr PlaceId kMaxBars = 200;

/// The range of places [first, end) that is drawn as one bar.
struct Bar {
  PlaceId first = 0, end = 0;
  double work_s = 0, comm_s = 0, busiest_s = 0;

  std::string note() const {
    const std::string times =
        fmt::format("{} of work, {} of messages", seconds_text(work_s), seconds_text(comm_s));
    if (end - first == 1) return fmt::format("place {}: {}", first, times);
    return fmt::format("places {} to {}: {} in the mean, busiest {}", first, end - 1, times,
                       seconds_text(busiest_s));
  }
};

PlaceId places_per_bar(PlaceId num_places) { return (num_places + kMaxBars - 1) / kMaxBars; }

std::vector<Bar> bars_of(const PlaceTimes& times) {
  const PlaceId num_places = times.work_s.size();
  const PlaceId run = places_per_bar(num_places);
  std::vector<Bar> bars;
  for (PlaceId first = 0; first < num_places; first += run) {
    const PlaceId end = std::min(first + run, num_places);
    Bar& bar = bars.emplace_back(Bar{.first = first, .end = end});
    for (PlaceId p = first; p < end; ++p) {
      bar.work_s += times.work_s[p] / (end - first);
      bar.comm_s += times.comm_s[p] / (end - first);
      bar.busiest_s = std::max(bar.busiest_s, times.work_s[p] + times.comm_s[p]);
    }
  }
  return bars;
}

/// The position of a chart's axes in SVG units, and the value at the top of the chart.
struct Frame {
  double left = 52, top = 22, width = 400, height = 170, top_s = 1;
  double y_of(double value_s) const { return top + height * (1 - value_s / top_s); }
  double bottom() const { return top + height; }
};

std::string seconds_axis(const Frame& frame) {
  const Unit unit = time_unit(frame.top_s);
  std::string out;
  for (const double tick : axis_ticks(frame.top_s / unit.value, 5)) {
    const double y = frame.y_of(tick * unit.value);
    out += svg_line(frame.left, y, frame.left + frame.width, y, "rule");
    out += svg_text(frame.left - 5, y + 4, "end faint", fmt::format("{:.6g}", tick));
  }
  return out + svg_text(frame.left - 5, frame.top - 10, "end faint", unit.name);
}

std::string place_axis(const Frame& frame, PlaceId num_places) {
  const double step = frame.width / num_places;
  std::string out;
  for (const double tick : axis_ticks(num_places - 1.0, 8))
    if (tick == std::floor(tick))
      out += svg_text(frame.left + (tick + 0.5) * step, frame.bottom() + 14, "faint",
                      fmt::format("{:.0f}", tick));
  return out + svg_text(frame.left + frame.width / 2, frame.bottom() + 29, "faint",
                        axis_title("place", places_per_bar(num_places), "the busiest"));
}

/// Draws lines that separate the nodes or, on a single node, its memory domains.
std::string borders(const Frame& frame, const Machine& machine) {
  const bool has_nodes = machine.num_nodes() > 1;
  if ((has_nodes ? machine.num_nodes() : machine.num_domains()) > 40) return "";
  std::string out;
  for (PlaceId p = 1; p < machine.num_places(); ++p) {
    const bool is_border = has_nodes ? machine.node_of_place(p) != machine.node_of_place(p - 1)
                                     : machine.domain_of(p) != machine.domain_of(p - 1);
    const double x = frame.left + frame.width * p / machine.num_places();
    if (is_border) out += svg_line(x, frame.top, x, frame.bottom() + 4, "rule");
  }
  return out;
}

std::string bar_boxes(const Frame& frame, const std::vector<Bar>& bars, bool has_peaks) {
  const double step = frame.width / bars.size();
  const double gap = std::min(2.0, step * 0.15);
  std::string out;
  for (std::size_t b = 0; b < bars.size(); ++b) {
    const Bar& bar = bars[b];
    const double x = frame.left + b * step + gap / 2;
    const double work_y = frame.y_of(bar.work_s), busy_y = frame.y_of(bar.work_s + bar.comm_s);
    const std::string note = bar.note();
    out += svg_box(x, work_y, step - gap, frame.bottom() - work_y, "work", note);
    if (bar.comm_s > 0) out += svg_box(x, busy_y, step - gap, work_y - busy_y, "comm", note);
    if (has_peaks)
      out +=
          svg_line(x, frame.y_of(bar.busiest_s), x + step - gap, frame.y_of(bar.busiest_s), "peak");
  }
  return out;
}

std::string amount_text(const Traffic& traffic, double amount) {
  return traffic.in_bytes ? bytes_text(amount)
                          : count_text(static_cast<std::uint64_t>(amount), "message");
}

constexpr int kShades = 16;

/// Draws the cells with one SVG path per shade, which keeps a file with thousands of cells small.
std::string heat_cells(const Traffic& traffic, double largest, double left, double top,
                       double cell) {
  const std::uint32_t n = traffic.grouping.num_groups;
  std::vector<std::string> paths(kShades + 1);
  for (std::uint32_t from = 0; from < n; ++from)
    for (std::uint32_t to = 0; to < n; ++to) {
      const double amount = traffic.amount[std::size_t{from} * n + to];
      if (amount <= 0) continue;
      const int shade = std::clamp(
          static_cast<int>(std::ceil(kShades * std::sqrt(amount / largest))), 1, kShades);
      fmt::format_to(std::back_inserter(paths[shade]), "M{:.6g} {:.6g}h{:.6g}v{:.6g}h-{:.6g}z",
                     left + to * cell, top + from * cell, cell, cell, cell);
    }
  std::string out;
  for (int shade = 1; shade <= kShades; ++shade)
    if (const std::string& path = paths[shade]; !path.empty())
      out += fmt::format("<path class=\"heat\" fill-opacity=\"{:.4g}\" d=\"{}\"/>\n",
                         1.0 * shade / kShades, path);
  return out;
}

/// Draws lines where neighbouring groups belong to different nodes. Draws none if every group is a
/// whole node.
std::string node_lines(const Grouping& grouping, double left, double top, double side) {
  const std::size_t n = grouping.node_of_group.size();
  std::string out;
  std::size_t num_nodes = n > 0 ? 1 : 0;
  for (std::size_t g = 1; g < n; ++g) {
    if (grouping.node_of_group[g] == grouping.node_of_group[g - 1]) continue;
    ++num_nodes;
    const double at = side * g / n;
    out += svg_line(left + at, top, left + at, top + side, "node");
    out += svg_line(left, top + at, left + side, top + at, "node");
  }
  return num_nodes < n ? out : "";
}

/// Draws an invisible layer over the cells. It holds the values of the cells for the page's script.
std::string heat_cover(const Traffic& traffic, double left, double top, double side) {
  return fmt::format(
      "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" class=\"cover\" "
      "data-groups=\"{}\" data-name=\"{}\" data-unit=\"{}\" data-amounts=\"{:.6g}\"/>\n",
      left, top, side, side, traffic.grouping.num_groups,
      traffic.grouping.name.find(' ') == std::string::npos ? escaped(traffic.grouping.name)
                                                           : "group",
      traffic.in_bytes ? "bytes" : "messages", fmt::join(traffic.amount, ","));
}

std::string heat_scale(const Traffic& traffic, double largest, double left, double y) {
  std::string out = svg_text(left, y + 10, "start faint", "0");
  for (int shade = 1; shade <= kShades; ++shade)
    out += fmt::format(
        "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"8\" height=\"12\" class=\"heat\" "
        "fill-opacity=\"{:.4g}\"/>\n",
        left + 4 + 8 * shade, y, 1.0 * shade / kShades);
  return out +
         svg_text(left + 20 + 8 * kShades, y + 10, "start faint", amount_text(traffic, largest));
}

std::string group_labels(const Traffic& traffic, double left, double top, double cell) {
  std::string out;
  for (const double tick : axis_ticks(traffic.grouping.num_groups - 1.0, 8)) {
    if (tick != std::floor(tick)) continue;
    const std::string text = fmt::format("{:.0f}", tick);
    out += svg_text(left + (tick + 0.5) * cell, top - 4, "faint", text);
    out += svg_text(left - 4, top + (tick + 0.5) * cell + 4, "end faint", text);
  }
  return out;
}

}  // namespace

double busiest_s(const PlaceTimes& times) {
  double busiest = 0;
  for (std::size_t p = 0; p < times.work_s.size(); ++p)
    busiest = std::max(busiest, times.work_s[p] + times.comm_s[p]);
  return busiest;
}

std::string load_picture(const Machine& machine, const PlaceTimes& times, double bound_s,
                         double top_s, std::string_view label) {
  const Frame frame{.top_s = top_s > 0 ? 1.05 * top_s : 1};
  const PlaceId num_places = machine.num_places();
  std::string content = seconds_axis(frame) + place_axis(frame, num_places) +
                        borders(frame, machine) +
                        bar_boxes(frame, bars_of(times), places_per_bar(num_places) > 1);
  const double y = frame.y_of(bound_s);
  content += svg_line(frame.left, y, frame.left + frame.width, y, "bound");
  return svg(frame.left + frame.width + 8, frame.bottom() + 36, label, content);
}

std::string received_picture(const std::vector<std::uint64_t>& received, std::uint64_t most,
                             std::string_view label) {
  const Frame frame{.top_s = most > 0 ? 1.05 * most : 1};
  const PlaceId num_places = received.size(), run = places_per_bar(num_places);
  std::string content;
  for (const double tick : axis_ticks(frame.top_s, 5)) {
    const double y = frame.y_of(tick);
    content += svg_line(frame.left, y, frame.left + frame.width, y, "rule");
    content += svg_text(frame.left - 5, y + 4, "end faint", fmt::format("{:.6g}", tick));
  }
  content += place_axis(frame, num_places);
  for (PlaceId first = 0; first < num_places; first += run) {
    const PlaceId end = std::min(first + run, num_places);
    const auto begin = received.begin() + first, stop = received.begin() + end;
    const double mean = std::accumulate(begin, stop, 0.0) / (end - first);
    const std::uint64_t largest = *std::max_element(begin, stop);
    const double x = frame.left + frame.width * first / num_places;
    const double width = frame.width * (end - first) / num_places;
    const std::string note =
        run == 1 ? fmt::format("place {}: {}", first, count_text(largest, "message"))
                 : fmt::format("places {} to {}: {:.6g} messages in the mean, at most {}", first,
                               end - 1, mean, largest);
    content +=
        svg_box(x, frame.y_of(mean), 0.85 * width, frame.bottom() - frame.y_of(mean), "comm", note);
    if (run > 1)
      content += svg_line(x, frame.y_of(largest), x + 0.85 * width, frame.y_of(largest), "peak");
  }
  return svg(frame.left + frame.width + 8, frame.bottom() + 36, label, content);
}

std::string traffic_picture(const Traffic& traffic, double largest, std::string_view label) {
  constexpr double kLeft = 44, kTop = 34, kMaxSide = 320;
  const double side = std::min(kMaxSide, 60.0 * traffic.grouping.num_groups);
  const double cell = side / traffic.grouping.num_groups;
  std::string content = svg_text(kLeft + side / 2, 12, "faint", "to " + traffic.grouping.name) +
                        fmt::format(
                            "<text class=\"faint\" transform=\"translate(12 {:.6g}) "
                            "rotate(-90)\">from {}</text>\n",
                            kTop + side / 2, escaped(traffic.grouping.name)) +
                        group_labels(traffic, kLeft, kTop, cell);
  if (largest > 0)
    content += heat_cells(traffic, largest, kLeft, kTop, cell) +
               heat_scale(traffic, largest, kLeft, kTop + side + 10);
  content += node_lines(traffic.grouping, kLeft, kTop, side);
  content += svg_box(kLeft, kTop, side, side, "frame");
  content += heat_cover(traffic, kLeft, kTop, side);
  return svg(kLeft + kMaxSide + 8, kTop + side + 28, label, content);
}

std::string ranking_picture(const Comparison& comparison) {
  constexpr double kLeft = 120, kWidth = 260, kRow = 24, kTop = 20;
  double top_s = comparison.bounds.largest_s();
  for (const auto& row : comparison.rows) top_s = std::max(top_s, row.metrics.iteration_s);
  if (top_s <= 0) top_s = 1;
  const Unit unit = time_unit(top_s);
  const double bottom = kTop + kRow * comparison.rows.size();
  std::string content;
  for (const double tick : axis_ticks(top_s / unit.value, 5)) {
    const double x = kLeft + kWidth * tick * unit.value / top_s;
    content += svg_line(x, kTop, x, bottom, "rule");
    content += svg_text(x, bottom + 14, "faint", fmt::format("{:.6g} {}", tick, unit.name));
  }
  for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
    const Comparison::Row& row = comparison.rows[r];
    const double y = kTop + kRow * r;
    const double width = kWidth * row.metrics.iteration_s / top_s;
    const bool is_best = comparison.best == r;
    content +=
        svg_text(kLeft - 8, y + 16, is_best ? "end strong" : "end", shortened(row.strategy, 20));
    if (!row.error.empty()) {
      content += svg_text(kLeft + 8, y + 16, "start faint", "not possible here: see the table");
      continue;
    }
    content += fmt::format(
        "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" fill=\"{}\" "
        "fill-opacity=\"{}\"/>\n",
        kLeft, y + 4, width, kRow - 8, colour_of(row.strategy), is_best ? 1 : .55);
    content += svg_text(kLeft + width + 6, y + 16, is_best ? "start strong" : "start",
                        seconds_text(row.metrics.iteration_s));
  }
  const double bound_x = kLeft + kWidth * comparison.bounds.largest_s() / top_s;
  content += svg_line(bound_x, kTop - 6, bound_x, bottom, "bound");
  content += svg_text(bound_x, kTop - 9, "bounded", "lower bound");
  return svg(kLeft + kWidth + 70, bottom + 22, "Iteration of each strategy", content);
}

}  // namespace poise::apps
