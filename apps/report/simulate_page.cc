// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/simulate_page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>

#include "apps/report/html.h"
#include "apps/report/page_script.h"
#include "apps/report/page_table.h"
#include "apps/report/pictures.h"
#include "apps/report/timeline_pictures.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

// Maximum number of points of a line. If there are more steps, a point is the mean of several
// steps.
constexpr std::size_t kMaxPoints = 600;

/// A decision: how many steps came before it, as a fraction of all steps, and what it moved.
struct Mark {
  double at = 0;
  std::string note;
  bool has_moved = false;  // whether tasks moved
};

struct Line {
  std::string label, style, colour;
  std::vector<double> values;
  std::vector<Mark> marks;
};

/// Returns the decisions of a replay. If several steps are drawn as one point (see kMaxPoints),
/// returns only the first decision of each point.
std::vector<Mark> marks_of(const Replay& replay, std::string_view strategy) {
  std::vector<Mark> marks;
  const std::size_t steps = replay.steps.size(), points = std::min(steps, kMaxPoints);
  std::size_t last_point = points;
  for (std::size_t s = 0; s < steps; ++s) {
    const ReplayStep& step = replay.steps[s];
    const std::size_t point = s * points / steps;
    const double stop_s = step.decision_s + step.collection_s + step.migration_s;
    if ((stop_s == 0 && step.migrations == 0) || point == last_point) continue;
    last_point = point;
    marks.push_back({1.0 * point / points,
                     fmt::format("{}, before step {}: {} moved; balancing took {}", strategy, s,
                                 count_text(step.migrations, "task"), seconds_text(stop_s)),
                     step.migrations > 0});
  }
  return marks;
}

/// Strategies that differ only in their knobs have the same colour. The first of them gets a solid
/// line, the others get dashed lines.
std::string line_style(const Simulation& simulation, std::size_t row) {
  const std::string colour = colour_of(simulation.rows[row].strategy);
  const auto equal =
      std::count_if(simulation.rows.begin(), simulation.rows.begin() + row,
                    [&](const auto& other) { return colour_of(other.strategy) == colour; });
  return fmt::format(
      "stroke:{};stroke-width:1.5{}", colour,
      equal > 0 ? fmt::format(";stroke-dasharray:{} 3", 9 - 2 * std::min<std::ptrdiff_t>(equal, 3))
                : "");
}

std::vector<double> thinned(const std::vector<double>& values) {
  const std::size_t points = std::min(values.size(), kMaxPoints);
  std::vector<double> means;
  for (std::size_t i = 0; i < points; ++i) {
    const auto begin = values.begin() + values.size() * i / points;
    const auto end = values.begin() + values.size() * (i + 1) / points;
    means.push_back(std::accumulate(begin, end, 0.0) / (end - begin));
  }
  return means;
}

/// Returns the upper end of the y axis in seconds. If leaving out the highest 2 % of the points at
/// least halves the range, the axis ends below these points, because the few steps before the first
/// decision can take much longer than all others.
double top_of(const std::vector<Line>& lines) {
  std::vector<double> values;
  for (const Line& line : lines)
    values.insert(values.end(), line.values.begin(), line.values.end());
  if (values.empty()) return 1;
  std::sort(values.begin(), values.end());
  const double most = values.back(), most_of = values[values.size() - 1 - values.size() / 50];
  const double top_s = most > 2 * most_of && most_of > 0 ? 1.1 * most_of : most;
  return top_s > 0 ? top_s : 1;
}

/// Draws each decision of a strategy as a point on its line; the point is hollow if no task moved.
std::string marks_picture(const Line& line, double left, double top, double width, double height,
                          double top_s) {
  std::string out;
  for (const Mark& mark : line.marks) {
    const auto value = line.values[std::lround(mark.at * line.values.size())];
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" style=\"stroke:{};fill:{}\" "
        "data-note=\"{}\"/>\n",
        left + width * mark.at, top + height * (1 - std::min(value / top_s, 1.0)), line.colour,
        mark.has_moved ? line.colour : "var(--paper)", escaped(mark.note));
  }
  return out;
}

/// Draws lines. The x axis shows the step; the y axis shows seconds and begins at 0.
std::string line_picture(const std::vector<Line>& lines, std::uint64_t steps,
                         std::string_view label) {
  constexpr double kLeft = 62, kTop = 10, kWidth = 560, kHeight = 260;
  const double top_s = top_of(lines);
  double most_s = 0;
  const Unit unit = time_unit(top_s);
  std::string content;
  for (const double tick : axis_ticks(top_s / unit.value, 6)) {
    const double y = kTop + kHeight * (1 - tick * unit.value / top_s);
    content += svg_line(kLeft, y, kLeft + kWidth, y, "rule");
    content += svg_text(kLeft - 6, y + 4, "end faint", fmt::format("{:.6g} {}", tick, unit.name));
  }
  const double last = steps;
  for (const double tick : axis_ticks(last, 8))
    if (tick == std::floor(tick))
      content += svg_text(kLeft + kWidth * tick / last, kTop + kHeight + 16, "faint",
                          fmt::format("{:.6g}", tick));
  content += svg_text(kLeft + kWidth / 2, kTop + kHeight + 32, "faint", "step");
  for (const Line& line : lines) {
    std::string points;
    const std::size_t count = line.values.size();
    for (std::size_t i = 0; i < count; ++i) {
      most_s = std::max(most_s, line.values[i]);
      const double y = kTop + kHeight * (1 - std::min(line.values[i] / top_s, 1.0));
      const double width = kWidth / count;
      const double x = kLeft + width * i;
      points += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x, y, x + width, y);
    }
    content += fmt::format("<polyline points=\"{}\" style=\"fill:none;{}\" data-note=\"{}\"/>\n",
                           points, line.style, escaped(line.label));
    content += marks_picture(line, kLeft, kTop, kWidth, kHeight, top_s);
  }
  if (most_s > top_s)
    content += svg_text(kLeft + 4, kTop - 2, "start faint",
                        fmt::format("higher, off the axis: up to {}", seconds_text(most_s)));
  return svg(kLeft + kWidth + 10, kTop + kHeight + 40, label, content);
}

std::string key_of(const std::vector<Line>& lines) {
  std::string key = "<p class=\"faint\">";
  for (const Line& line : lines)
    key += fmt::format(
        "<span style=\"display:inline-block;margin-right:.8em\"><svg viewBox=\"0 0 24 8\" "
        "style=\"display:inline-block;width:24px;margin-right:.3em\" aria-hidden=\"true\">"
        "<path d=\"M0 4H24\" style=\"fill:none;{}\"/></svg>{}</span> ",
        line.style, escaped(line.label));
  return key + "</p>\n";
}

using Series = std::function<std::vector<double>(const Replay&)>;

std::vector<Line> lines_of(const Simulation& simulation, const Series& series) {
  std::vector<Line> lines;
  for (std::size_t r = 0; r < simulation.rows.size(); ++r) {
    const auto& row = simulation.rows[r];
    if (!row.error.empty()) continue;
    lines.push_back({row.strategy, line_style(simulation, r), colour_of(row.strategy),
                     thinned(series(row.replay)), marks_of(row.replay, row.strategy)});
  }
  return lines;
}

/// Draws how many messages each place receives from other places, without balancing and with the
/// best strategy.
std::string received_pictures(const Simulation& simulation) {
  std::vector<const Simulation::Row*> rows{&simulation.rows.front()};
  if (simulation.best > 0) rows.push_back(&simulation.rows[simulation.best]);
  std::uint64_t most = 0;
  for (const auto* row : rows)
    most = std::max(most, *std::max_element(row->replay.received_messages.begin(),
                                            row->replay.received_messages.end()));
  if (most == 0) return "";
  std::vector<std::string> figures;
  for (const auto* row : rows) {
    const auto& received = row->replay.received_messages;
    const auto [least, greatest] = std::minmax_element(received.begin(), received.end());
    figures.push_back(html_figure(
        received_picture(received, most, "Messages received by each place"),
        fmt::format("<b>Messages from other places</b> in the last step, {}: at least "
                    "{} and at most {} at a place",
                    escaped(row->strategy), count_text(*least), count_text(*greatest))));
  }
  return html_row(figures);
}

std::string pictures_of(const Simulation& simulation) {
  auto steps = lines_of(simulation, [](const Replay& replay) {
    std::vector<double> times_s;
    for (const ReplayStep& step : replay.steps) times_s.push_back(step.iteration_s);
    return times_s;
  });
  steps.push_back({"lower bound",
                   "stroke:var(--bound);stroke-dasharray:5 3;stroke-width:1.5",
                   "var(--bound)",
                   thinned(simulation.bound_s),
                   {}});
  const auto sums = lines_of(simulation, [](const Replay& replay) {
    std::vector<double> times_s = step_times_s(replay);
    std::partial_sum(times_s.begin(), times_s.end(), times_s.begin());
    return times_s;
  });
  const std::uint64_t count = simulation.plan.steps;
  const std::string thinning =
      count > kMaxPoints ? "; neighbouring steps share a point, their mean" : "";
  return key_of(steps) +
         html_row({html_figure(line_picture(steps, count, "Iteration time of every step"),
                               "<b>Iteration</b> of every step; a point is a decision, hollow if "
                               "no task moved" +
                                   thinning),
                   html_figure(line_picture(sums, count, "Time since the start"),
                               "<b>Time since the start</b>: iterations and balancing")}) +
         received_pictures(simulation);
}

std::vector<PageCell> cells_of(const Replay& replay, const Simulation& simulation) {
  const bool is_known = knows_migrations(simulation, replay);
  const PageCell unknown{"unknown"};
  std::vector<PageCell> cells{seconds_cell(replay.total_s),
                              change_cell(replay.total_s, simulation.unbalanced().total_s),
                              change_cell(replay.total_s, simulation.total_bound_s),
                              digits_cell(efficiency(simulation, replay)),
                              seconds_cell(replay.iteration_s),
                              is_known ? seconds_cell(replay.migration_s) : unknown,
                              seconds_cell(replay.decision_s),
                              count_cell(replay.decisions),
                              count_cell(replay.migrations),
                              is_known ? bytes_cell(replay.migrated_bytes) : unknown};
  if (simulation.plan.lending.is_on()) {
    cells.push_back(count_cell(replay.loans.tasks));
    cells.push_back(bytes_cell(replay.loans.bytes));
    cells.push_back(seconds_cell(replay.loans.saved_s));
  }
  if (simulation.plan.overlap) cells.push_back(seconds_cell(replay.overlapped_s));
  return cells;
}

std::string table_of(const Simulation& simulation) {
  std::vector<std::string> headings{"strategy",   "total",      "vs none",    "vs bound",
                                    "efficiency", "iterations", "migrating",  "deciding",
                                    "decisions",  "moves",      "moved bytes"};
  if (simulation.plan.lending.is_on())
    headings.insert(headings.end(), {"lent tasks", "lent bytes", "saved by lending"});
  if (simulation.plan.overlap) headings.emplace_back("overlapped");
  std::vector<PageRow> rows;
  for (std::size_t r = 0; r < simulation.rows.size(); ++r) {
    const auto& row = simulation.rows[r];
    rows.push_back({row.strategy,
                    row.error.empty() ? cells_of(row.replay, simulation) : std::vector<PageCell>(),
                    row.error, r == simulation.best});
  }
  return page_table("simulate", headings, rows);
}

std::string summary_of(const Simulation& simulation) {
  const auto& best = simulation.rows[simulation.best];
  const double now_s = simulation.unbalanced().total_s;
  std::string text =
      simulation.best == 0
          ? fmt::format("No strategy earns its costs: {} without balancing", seconds_text(now_s))
          : fmt::format("<b>{}</b> cuts {} steps from {} to <b>{}</b> ({})", escaped(best.strategy),
                        count_text(simulation.plan.steps), seconds_text(now_s),
                        seconds_text(best.replay.total_s), change_text(best.replay.total_s, now_s));
  return text + fmt::format("; the lower bound is {}.", seconds_text(simulation.total_bound_s));
}

}  // namespace

std::string simulate_page(const Simulation& simulation, const std::string& heading,
                          const std::vector<Timeline>& timelines, std::string_view data) {
  const std::string body =
      fmt::format(
          "<header><h1>What if tasks moved every {} steps</h1>\n<p "
          "class=\"faint\">{}</p>\n{}</header>\n"
          "<main>\n<section>\n<h2>On {}</h2>\n<p class=\"summary\">{}</p>\n",
          simulation.plan.every, escaped(heading), download_html(data), escaped(simulation.machine),
          summary_of(simulation)) +
      pictures_of(simulation) + table_of(simulation) +
      "<p class=\"faint\">A decision sees the step before it. Efficiency: all work over all speed "
      "and the total. The lower bound moves nothing and sends no message.</p>\n</section>\n" +
      timelines_html(timelines, "Simulated event by event") + "</main>\n";
  return html_page("Poise: " + heading, body);
}

}  // namespace poise::apps
