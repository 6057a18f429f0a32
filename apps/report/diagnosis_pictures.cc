// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/diagnosis_pictures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <vector>

#include "apps/report/diagnosis_text.h"
#include "apps/report/html.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

constexpr std::size_t kMaxBars = 200, kMaxSquares = 64;
constexpr int kShades = 16;

/// The position of a chart's axes in SVG units, and the value at the top.
struct Frame {
  double left = 52, top = 22, width = 400, height = 170, top_value = 1;
  double y_of(double value) const { return top + height * (1 - value / top_value); }
  double bottom() const { return top + height; }
};

std::string value_axis(const Frame& frame, double unit, std::string_view name) {
  std::string out;
  for (const double tick : axis_ticks(frame.top_value / unit, 5)) {
    const double y = frame.y_of(tick * unit);
    out += svg_line(frame.left, y, frame.left + frame.width, y, "rule");
    out += svg_text(frame.left - 5, y + 4, "end faint", fmt::format("{:.6g}", tick));
  }
  return out + svg_text(frame.left - 5, frame.top - 10, "end faint", name);
}

/// Labels an axis with the ranks 0 to count - 1. Each rank has a column of the same width. If there
/// are many ranks, some labels are omitted.
std::string rank_axis(double left, double width, double y, std::size_t count) {
  std::string out;
  const double number = count;
  for (const double tick : axis_ticks(number - 1, 8))
    if (tick == std::floor(tick))
      out +=
          svg_text(left + (tick + 0.5) * width / number, y, "faint", fmt::format("{:.0f}", tick));
  return out;
}

/// Times of ranks [first, end), each summed over all phases: the means over these ranks, and the
/// longest useful time of a rank. If waiting times are unknown, transfer_s has all time in MPI.
struct Times {
  std::size_t first = 0, end = 0;
  double useful_s = 0, waited_s = 0, transfer_s = 0, longest_s = 0;
  double sum_s() const { return useful_s + waited_s + transfer_s; }
  std::string note(bool knows_waiting) const {
    const std::string who = end - first == 1 ? fmt::format("rank {}", first)
                                             : fmt::format("ranks {} to {}", first, end - 1);
    const std::string in_mpi = knows_waiting
                                   ? fmt::format("{} waiting, {} transfer", seconds_text(waited_s),
                                                 seconds_text(transfer_s))
                                   : fmt::format("{} in MPI", seconds_text(transfer_s));
    return fmt::format("{}: {} useful, {}", who, seconds_text(useful_s), in_mpi);
  }
};

std::vector<Times> times_of(const MeasuredRun& run) {
  const std::size_t ranks = run.num_ranks(), step = (ranks + kMaxBars - 1) / kMaxBars;
  std::vector<Times> bars;
  for (std::size_t first = 0; first < ranks; first += step) {
    Times& bar = bars.emplace_back(Times{.first = first, .end = std::min(first + step, ranks)});
    const double count = bar.end - bar.first;
    for (std::size_t r = bar.first; r < bar.end; ++r) {
      double useful_s = 0;
      for (const MeasuredPhase& phase : run.phases) {
        const RankTimes& rank = phase.ranks[r];
        useful_s += rank.useful_s;
        bar.useful_s += rank.useful_s / count;
        const double waited_s = run.knows_waiting ? rank.waited.value : 0;
        bar.waited_s += waited_s / count;
        bar.transfer_s += std::max(0.0, rank.wall_s - rank.useful_s - waited_s) / count;
      }
      bar.longest_s = std::max(bar.longest_s, useful_s);
    }
  }
  return bars;
}

/// The matrix of waiting times: a row stands for `step` consecutive ranks that waited, and a column
/// for `step` consecutive ranks that were late.
struct Waits {
  std::size_t ranks = 1, step = 1, groups = 1;
  // Element [waiting * groups + late] is how long row `waiting` waited for column `late`.
  std::vector<double> seconds;
};

Waits waits_of(const MeasuredRun& run) {
  Waits waits;
  const std::size_t ranks = waits.ranks = run.num_ranks();
  waits.step = (ranks + kMaxSquares - 1) / kMaxSquares;
  waits.groups = (ranks + waits.step - 1) / waits.step;
  waits.seconds.assign(waits.groups * waits.groups, 0);
  for (const MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < ranks; ++r)
      for (const auto& [late, seconds] : phase.ranks[r].waited_for)
        waits.seconds[r / waits.step * waits.groups + late / waits.step] += seconds;
  return waits;
}

std::string group_text(const Waits& waits, std::size_t group) {
  const std::size_t first = group * waits.step, end = std::min(first + waits.step, waits.ranks);
  return end - first == 1 ? fmt::format("rank {}", first)
                          : fmt::format("ranks {} to {}", first, end - 1);
}

/// The efficiencies of a range of phases.
struct Stretch {
  double begin_s = 0, end_s = 0;
  Efficiencies values;
  std::string name;
};

std::vector<Stretch> stretches_of(const MeasuredRun& run) {
  const std::size_t step = (run.phases.size() + kMaxBars - 1) / kMaxBars;
  const std::vector<double> phases_s = phase_times_s(run);
  std::vector<Stretch> stretches;
  double now_s = 0;
  for (std::size_t first = 0; first < run.phases.size(); first += step) {
    MeasuredRun part{.node_of_rank = run.node_of_rank};
    part.knows_waiting = run.knows_waiting;
    Stretch& stretch = stretches.emplace_back();
    stretch.begin_s = now_s;
    for (std::size_t p = first; p < std::min(first + step, run.phases.size()); ++p) {
      part.phases.push_back(run.phases[p]);
      now_s += phases_s[p];
    }
    stretch.values = efficiencies(part);
    stretch.end_s = now_s;
    stretch.name = run.phases[first].name;
  }
  return stretches;
}

struct Line {
  const char* colour;
  double Efficiencies::*value;
};
constexpr Line kLines[] = {{"var(--work)", &Efficiencies::parallel},
                           {"var(--heat)", &Efficiencies::load_balance},
                           {"var(--comm)", &Efficiencies::communication}};

/// Draws one efficiency over time: a horizontal line for each stretch of consecutive phases. `x_of`
/// converts seconds to x coordinates.
template <typename Position>
std::string path_of(const std::vector<Stretch>& stretches, const Line& line, const Frame& frame,
                    const Position& x_of) {
  std::string path;
  for (const Stretch& stretch : stretches) {
    const double y = frame.y_of(std::min(1.0, stretch.values.*line.value));
    fmt::format_to(std::back_inserter(path), "{}{:.6g} {:.6g}H{:.6g}", path.empty() ? "M" : "L",
                   x_of(stretch.begin_s), y, x_of(stretch.end_s));
  }
  return fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" d=\"{}\"/>\n",
                     line.colour, path);
}

}  // namespace

std::string rank_times_picture(const MeasuredRun& run) {
  const std::vector<Times> bars = times_of(run);
  Frame frame;
  frame.top_value = 0;
  for (const Times& bar : bars) frame.top_value = std::max(frame.top_value, bar.sum_s());
  if (frame.top_value <= 0) frame.top_value = 1;
  const Unit unit = time_unit(frame.top_value);
  std::string out = value_axis(frame, unit.value, unit.name);
  const double step = frame.width / bars.size();
  const double gap = std::min(2.0, step * 0.15);
  const std::size_t per_bar = bars.front().end;
  for (std::size_t b = 0; b < bars.size(); ++b) {
    const double x = frame.left + b * step + gap / 2;
    double from = 0;
    const std::pair<double, const char*> parts[] = {
        {bars[b].useful_s, "work"}, {bars[b].waited_s, "idle"}, {bars[b].transfer_s, "comm"}};
    for (const auto& [seconds, style] : parts) {
      const double y = frame.y_of(from + seconds);
      out +=
          svg_box(x, y, step - gap, frame.y_of(from) - y, style, bars[b].note(run.knows_waiting));
      from += seconds;
    }
    const double y = frame.y_of(bars[b].longest_s);
    if (per_bar > 1) out += svg_line(x, y, x + step - gap, y, "peak");
  }
  out += rank_axis(frame.left, frame.width, frame.bottom() + 14, run.num_ranks());
  out += svg_text(frame.left + frame.width / 2, frame.bottom() + 29, "faint",
                  axis_title("rank", per_bar, "longest useful time"));
  return svg(460, 228, "Useful time, waiting and transfer of each rank", out);
}

std::string waiting_picture(const MeasuredRun& run) {
  const Waits waits = waits_of(run);
  constexpr double kLeft = 52, kTop = 14, kSide = 200;
  const double cell = kSide / waits.groups;
  const double longest = *std::max_element(waits.seconds.begin(), waits.seconds.end());
  std::string out = svg_box(kLeft, kTop, kSide, kSide, "frame");
  for (std::size_t row = 0; row < waits.groups; ++row)
    for (std::size_t column = 0; column < waits.groups; ++column) {
      const double seconds = waits.seconds[row * waits.groups + column];
      if (seconds <= 0) continue;
      const double shade = std::ceil(kShades * std::sqrt(seconds / longest)) / kShades;
      const std::string note = fmt::format("{} waited {} for {}", group_text(waits, row),
                                           seconds_text(seconds), group_text(waits, column));
      out +=
          fmt::format("<g fill-opacity=\"{:.4g}\">{}</g>", shade,
                      svg_box(kLeft + column * cell, kTop + row * cell, cell, cell, "heat", note));
    }
  out += rank_axis(kLeft, kSide, kTop + kSide + 14, run.num_ranks());
  const double ranks = run.num_ranks();
  for (const double tick : axis_ticks(ranks - 1, 8))
    if (tick == std::floor(tick))
      out += svg_text(kLeft - 5, kTop + (tick + 0.5) * kSide / ranks + 4, "end faint",
                      fmt::format("{:.0f}", tick));
  out += svg_text(kLeft + kSide / 2, kTop + kSide + 29, "faint", "for rank");
  out += svg_text(kLeft + kSide + 8, kTop + 10, "start faint", "rows: the rank that waited");
  if (longest > 0)
    out += svg_text(kLeft + kSide + 8, kTop + 26, "start faint",
                    fmt::format("darkest: {}", seconds_text(longest)));
  if (waits.step > 1)
    out += svg_text(kLeft + kSide + 8, kTop + 42, "start faint",
                    fmt::format("square: the sum of {0} x {0} ranks", waits.step));
  return svg(460, 250, "Which rank waited for which", out);
}

std::string efficiency_picture(const MeasuredRun& run) {
  const std::vector<Stretch> stretches = stretches_of(run);
  Frame frame{.top = 26, .width = 860, .height = 150, .top_value = 1};
  const double run_s = std::max(1e-12, stretches.back().end_s);
  const auto x_of = [&](double s) { return frame.left + frame.width * s / run_s; };
  std::string out = value_axis(frame, 0.01, "%");
  for (const Stretch& stretch : stretches) {
    const Efficiencies& e = stretch.values;
    const std::string head = stretch.name.empty() ? "" : stretch.name + ": ";
    const std::string note = fmt::format(
        "{}parallel {:.0f} %, load balance {:.0f} %, communication {:.0f} %, {}", head,
        100 * e.parallel, 100 * e.load_balance, 100 * e.communication, seconds_text(e.run_s));
    out += svg_box(x_of(stretch.begin_s), frame.top, x_of(stretch.end_s) - x_of(stretch.begin_s),
                   frame.height, "cover", note);
  }
  for (const Line& line : kLines) out += path_of(stretches, line, frame, x_of);
  const Unit unit = time_unit(run_s);
  for (const double tick : axis_ticks(run_s / unit.value, 8))
    out += svg_text(x_of(tick * unit.value), frame.bottom() + 14, "faint",
                    fmt::format("{:.6g}", tick));
  out += svg_text(frame.left + frame.width / 2, frame.bottom() + 29, "faint",
                  fmt::format("time, {}", unit.name));
  return svg(930, 212, "Efficiencies along the run", out);
}

std::string advice_picture(const Diagnosis& diagnosis) {
  constexpr double kLeft = 110, kWidth = 300, kRow = 24, kTop = 20;
  double top_s = 0;
  for (const Advice& advice : diagnosis.advice)
    top_s = std::max(top_s, advice.saved.value + advice.saved.half_width);
  if (top_s <= 0) return "";
  const auto x_of = [&](double s) { return kLeft + kWidth * std::clamp(s / top_s, 0.0, 1.0); };
  const double bottom = kTop + kRow * diagnosis.advice.size();
  const Unit unit = time_unit(top_s);
  std::string out;
  for (const double tick : axis_ticks(top_s / unit.value, 5)) {
    const double x = x_of(tick * unit.value);
    out += svg_line(x, kTop - 4, x, bottom, "rule");
    out += svg_text(x, kTop - 8, "faint", fmt::format("{:.6g} {}", tick, unit.name));
  }
  for (std::size_t i = 0; i < diagnosis.advice.size(); ++i) {
    const Advice& advice = diagnosis.advice[i];
    const double y = kTop + kRow * i, saved_s = advice.saved.value;
    const std::string note =
        fmt::format("{}{} (+-{})", advice.is_bound ? "at most " : "about ", seconds_text(saved_s),
                    seconds_text(advice.saved.half_width));
    out += svg_text(kLeft - 6, y + 15, "end", remedy_text(advice.remedy));
    out += svg_box(kLeft, y + 4, x_of(saved_s) - kLeft, kRow - 9, i == 0 ? "work" : "plain", note);
    const double middle = y + 4 + (kRow - 9) / 2;
    out += svg_line(x_of(saved_s - advice.saved.half_width), middle,
                    x_of(saved_s + advice.saved.half_width), middle, "peak");
  }
  return svg(430, bottom + 6, "Seconds that each advice saves", out);
}

}  // namespace poise::apps
