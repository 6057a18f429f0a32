// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/simulate_page.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <numeric>

#include "apps/report/html.h"
#include "apps/report/page_script.h"
#include "apps/report/page_table.h"
#include "apps/report/timeline_pictures.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

// If there are more steps than this, a point is the mean of several steps.
constexpr std::size_t kMaxPoints = 600;

struct Line {
  std::string label, style;
  std::vector<double> values;
};

/// Strategies that differ only in their knobs have the same colour. The line of the first of them
/// is solid, and the others are dashed.
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

/// Returns the end of the y axis. A few steps before the first balancing can take many times longer
/// than all others, so up to a fiftieth of the points may lie above the axis if that halves its
/// length.
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

/// Draws lines over steps (x axis); the y axis is in seconds from 0.
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
    lines.push_back({row.strategy, line_style(simulation, r), thinned(series(row.replay))});
  }
  return lines;
}

std::string pictures_of(const Simulation& simulation) {
  auto steps = lines_of(simulation, [](const Replay& replay) {
    std::vector<double> times_s;
    for (const ReplayStep& step : replay.steps) times_s.push_back(step.iteration_s);
    return times_s;
  });
  steps.push_back({"lower bound", "stroke:var(--bound);stroke-dasharray:5 3;stroke-width:1.5",
                   thinned(simulation.bound_s)});
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
                               "<b>Iteration</b> of every step" + thinning),
                   html_figure(line_picture(sums, count, "Time since the start"),
                               "<b>Time since the start</b>: iterations, migrations, decisions")});
}

std::vector<PageCell> cells_of(const Replay& replay, const Simulation& simulation) {
  std::vector<PageCell> cells{seconds_cell(replay.total_s),
                              change_cell(replay.total_s, simulation.unbalanced().total_s),
                              change_cell(replay.total_s, simulation.total_bound_s),
                              digits_cell(efficiency(simulation, replay)),
                              seconds_cell(replay.iteration_s),
                              seconds_cell(replay.migration_s),
                              seconds_cell(replay.decision_s),
                              count_cell(replay.decisions),
                              count_cell(replay.migrations),
                              bytes_cell(replay.migrated_bytes)};
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
