// SPDX-License-Identifier: BSD-3-Clause
// Draws the trade-off between shorter iterations and moved data, with one point per strategy.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include "apps/report/html.h"
#include "apps/report/pictures.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

constexpr double kLeft = 58, kTop = 14, kWidth = 330, kHeight = 250;
constexpr double kLabelHeight = 11, kLabelGap = 14, kLetter = 6.4;

struct Point {
  const Comparison::Row* row;
  double moved, x, y, radius;
};

struct Scale {
  double most_moved, least_s, most_s;
  bool in_bytes;

  double x_of(double moved) const { return kLeft + kWidth * moved / most_moved; }
  double y_of(double iteration_s) const {
    return kTop + kHeight * (most_s - iteration_s) / (most_s - least_s);
  }
  std::string moved_text(double moved) const {
    return in_bytes ? bytes_text(moved) : count_text(static_cast<std::uint64_t>(moved), "task");
  }
};

double moved_by(const Comparison::Row& row, bool in_bytes) {
  return in_bytes ? row.metrics.migrated_bytes : row.metrics.migrations;
}

/// The y axis shows differences, so it does not start at 0. It ends a little above the iteration
/// time of `keep`, the strategy that moves nothing. Strategies with a longer iteration are drawn at
/// its upper end.
Scale scale_of(const Comparison& comparison) {
  Scale scale{0, comparison.iteration_bound_s, 0, comparison.has_sizes};
  for (const Comparison::Row& row : comparison.rows) {
    if (!row.error.empty()) continue;
    scale.most_moved = std::max(scale.most_moved, moved_by(row, scale.in_bytes));
    scale.most_s = std::max(scale.most_s, row.metrics.iteration_s);
    scale.least_s = std::min(scale.least_s, row.metrics.iteration_s);
  }
  scale.most_s = std::min(scale.most_s, 1.05 * comparison.keep.iteration_s);
  const double margin_s = .05 * (scale.most_s - scale.least_s);
  scale.most_s += margin_s;
  scale.least_s = std::max(0.0, scale.least_s - margin_s);
  // If all values are nearly equal, the labels at the two ends of the axis would hardly differ. So
  // this makes the range of the axis wider, with the points in the middle.
  if (!(scale.most_s > 1.0001 * scale.least_s)) {
    const double all_s = scale.least_s;
    scale.least_s = .9 * all_s;
    scale.most_s = all_s > 0 ? 1.1 * all_s : 1;
  }
  if (scale.most_moved <= 0) scale.most_moved = 1;
  return scale;
}

/// Returns the points, the largest first, so that no point hides a smaller one.
std::vector<Point> points_of(const Comparison& comparison, const Scale& scale) {
  std::vector<Point> points;
  for (const Comparison::Row& row : comparison.rows) {
    if (!row.error.empty()) continue;
    const double moved = moved_by(row, scale.in_bytes);
    const double y = scale.y_of(std::min(row.metrics.iteration_s, scale.most_s));
    // The radius of a point in SVG units is 3 if the decision took at most 10 µs, and grows by 1.5
    // with each factor of ten in its time.
    const double radius = 3 + 1.5 * std::max(0.0, std::log10(row.decision_s / 1e-5));
    points.push_back({&row, moved, scale.x_of(moved), y, std::min(radius, 10.0)});
  }
  std::ranges::sort(points, std::greater{}, &Point::radius);
  return points;
}

std::string axes(const Scale& scale) {
  std::string out = svg_line(kLeft, kTop + kHeight, kLeft + kWidth, kTop + kHeight, "rule") +
                    svg_line(kLeft, kTop, kLeft, kTop + kHeight, "rule");
  const Unit unit = time_unit(scale.most_s);
  const double least = scale.least_s / unit.value, most = scale.most_s / unit.value;
  const double step = axis_ticks(most - least, 6)[1];
  for (double tick = std::ceil(least / step) * step; tick <= most; tick += step) {
    const double y = scale.y_of(tick * unit.value);
    out += svg_line(kLeft, y, kLeft + kWidth, y, "rule");
    out += svg_text(kLeft - 5, y + 4, "end faint", fmt::format("{:.6g} {}", tick, unit.name));
  }
  for (const double part : {0.0, .5, 1.0})
    out += svg_text(kLeft + part * kWidth, kTop + kHeight + 15, part < 1 ? "faint" : "end faint",
                    scale.moved_text(part * scale.most_moved));
  return out + svg_text(kLeft + kWidth / 2, kTop + kHeight + 30, "faint", "moved");
}

/// True if the point is Pareto-optimal: every strategy with a shorter iteration moves more bytes
/// (or tasks, if sizes are unknown).
bool is_worth_its_moves(const Point& point, const std::vector<Point>& points) {
  return std::none_of(points.begin(), points.end(), [&](const Point& other) {
    const double s = other.row->metrics.iteration_s, own_s = point.row->metrics.iteration_s;
    return other.moved <= point.moved && s <= own_s && (other.moved < point.moved || s < own_s);
  });
}

/// A rectangle from (left, top) to (right, bottom).
struct Area {
  double left, top, right, bottom;
  bool meets(const Area& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

Area area_around(double x, double y, double radius) {
  return {x - radius, y - radius, x + radius, y + radius};
}

bool meets_any(const Area& area, const std::vector<Area>& others) {
  return std::ranges::any_of(others, [&](const Area& other) { return other.meets(area); });
}

/// `all` has the areas that new labels must not cover. `labels` has the areas of the labels drawn
/// so far: the line from a new label to its point must not cross them.
struct Taken {
  std::vector<Area> all, labels;
};

/// Draws a label. If `gap` is positive, the text begins `gap` to the right of the point; otherwise
/// it ends -gap to the left of the point. The text is `height` above the point (below it, if
/// negative). If `height` is not 0, a line joins the label and the point. Returns an empty string
/// if the position is not free.
std::string label_at(const Point& point, double gap, double height, Taken& taken) {
  const std::string name = shortened(point.row->strategy, 24);
  const double width = kLetter * name.size(), x = point.x + gap, y = point.y - height;
  const Area area{gap > 0 ? x : x - width, y - kLabelHeight / 2, gap > 0 ? x + width : x,
                  y + kLabelHeight / 2};
  if (area.left < kLeft || area.right > kLeft + kWidth || area.top < kTop - kLabelHeight ||
      area.bottom > kTop + kHeight || meets_any(area, taken.all))
    return "";
  std::vector<Area> line;
  for (int part = 1; height != 0 && part < 16; ++part)
    line.push_back(area_around(point.x + gap * part / 16, point.y - height * part / 16, 1));
  if (std::ranges::any_of(line, [&](const Area& dot) { return meets_any(dot, taken.labels); }))
    return "";
  taken.all.insert(taken.all.end(), line.begin(), line.end());
  taken.all.push_back(area);
  taken.labels.push_back(area);
  return (line.empty() ? "" : svg_line(point.x, point.y, x - std::copysign(2, gap), y, "leader")) +
         svg_text(x, y + 4, gap > 0 ? "start halo" : "end halo", name);
}

/// Draws the label at the first free position. Returns an empty string if there is none.
std::string label_of(const Point& point, Taken& taken) {
  for (double height = 0; height < kHeight; height += kLabelHeight / 2)
    for (const double gap : {kLabelGap, -kLabelGap, 3 * kLabelGap, -3 * kLabelGap}) {
      // If a label is at about the height of its point, but far from it, readers could think that
      // the label names another point.
      if (height < kLabelHeight && std::abs(gap) > kLabelGap) continue;
      for (const double up : {height, -height})
        if (std::string label = label_at(point, gap, up, taken); !label.empty()) return label;
    }
  return "";
}

/// Draws the labels from the lowest point upwards, because there is most room above the points.
std::string labels_of(const std::vector<Point>& points) {
  Taken taken;
  std::vector<Point> named;
  for (const Point& point : points) {
    taken.all.push_back(area_around(point.x, point.y, point.radius));
    if (is_worth_its_moves(point, points)) named.push_back(point);
  }
  std::ranges::sort(named, std::greater{}, &Point::y);
  std::string out;
  for (const Point& point : named) out += label_of(point, taken);
  return out;
}

}  // namespace

std::string trade_off_picture(const Comparison& comparison) {
  const Scale scale = scale_of(comparison);
  std::string content = axes(scale);
  if (const double y = scale.y_of(comparison.iteration_bound_s); y <= kTop + kHeight)
    content += svg_line(kLeft, y, kLeft + kWidth, y, "bound");
  const Comparison::Row& best = comparison.best_row();
  const double least_moved = scale.in_bytes ? static_cast<double>(best.least.bytes)
                                            : static_cast<double>(best.least.tasks);
  if (least_moved > 0 && least_moved <= scale.most_moved)
    content +=
        svg_line(scale.x_of(least_moved), kTop, scale.x_of(least_moved), kTop + kHeight, "bound");
  const std::vector<Point> points = points_of(comparison, scale);
  for (const Point& point : points) {
    const Comparison::Row& row = *point.row;
    const std::string note =
        fmt::format("{}: {} an iteration\n{} moved\ndecided in {}", row.strategy,
                    seconds_text(row.metrics.iteration_s), scale.moved_text(point.moved),
                    seconds_text(row.decision_s));
    content += fmt::format(
        "<circle cx=\"{:.6g}\" cy=\"{:.6g}\" r=\"{:.3g}\" class=\"point\" fill=\"{}\" "
        "data-note=\"{}\"/>\n",
        point.x, point.y, point.radius, colour_of(row.strategy), escaped(note));
  }
  return svg(kLeft + kWidth + 16, kTop + kHeight + 36, "Iteration against what moves",
             content + labels_of(points));
}

}  // namespace poise::apps
