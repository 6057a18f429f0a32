// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/phase_pictures.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "apps/report/html.h"
#include "apps/report/pictures.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

constexpr std::size_t kMaxPhases = 24, kPerRow = 6, kMaxBars = 40;
constexpr double kWidth = 130, kHeight = 60, kGap = 14, kCaption = 16;

struct Busy {
  double average_s = 0, busiest_s = 0;
};

/// Returns the mean and the longest busy time of places [first, end).
Busy busy_of(const PlaceTimes& times, std::size_t first, std::size_t end) {
  Busy busy;
  for (std::size_t p = first; p < end; ++p) {
    const double s = times.work_s[p] + times.comm_s[p];
    busy.average_s += s / (end - first);
    busy.busiest_s = std::max(busy.busiest_s, s);
  }
  return busy;
}

std::size_t places_per_bar(std::size_t places) { return (places + kMaxBars - 1) / kMaxBars; }

/// Draws one bar per place. If there are many places, a bar stands for several neighbouring places
/// and shows the busiest of them.
std::string bars_of(const PlaceTimes& times, double x, double y, double top_s) {
  const std::size_t places = times.work_s.size();
  const std::size_t run = places_per_bar(places);
  const double step = kWidth * run / places;
  std::string path;
  for (std::size_t first = 0, bar = 0; first < places; first += run, ++bar) {
    const Busy busy = busy_of(times, first, std::min(first + run, places));
    const double height = kHeight * busy.busiest_s / top_s;
    path += fmt::format("M{:.5g} {:.5g}h{:.4g}v-{:.4g}h-{:.4g}z", x + step * bar, y + kHeight,
                        step * .9, height, step * .9);
  }
  return fmt::format("<path class=\"work\" d=\"{}\"/>\n", path);
}

std::string phase_picture(const RecordedPhase& phase, double x, double y, double top_s) {
  const Busy busy = busy_of(phase.times, 0, phase.times.work_s.size());
  const double mean_y = y + kHeight * (1 - busy.average_s / top_s);
  const std::string note = fmt::format("phase {}\nbusiest place {}\naverage {}", phase.id,
                                       seconds_text(busy.busiest_s), seconds_text(busy.average_s));
  return bars_of(phase.times, x, y, top_s) +
         svg_line(x, y + kHeight, x + kWidth, y + kHeight, "rule") +
         svg_line(x, mean_y, x + kWidth, mean_y, "mean") +
         svg_text(x, y + kHeight + 12, "start faint", fmt::format("phase {}", phase.id)) +
         svg_text(x + kWidth, y + kHeight + 12, "end faint", seconds_text(busy.busiest_s)) +
         svg_box(x, y, kWidth, kHeight, "cover", note);
}

}  // namespace

std::vector<RecordedPhase> recorded_phases(const Trace& trace, const Machine& machine,
                                           const CostModel& costs) {
  const std::size_t count = trace.phases.size(), shown = std::min(count, kMaxPhases);
  std::vector<RecordedPhase> phases;
  if (count < 2 || trace.num_places != machine.num_places()) return phases;
  for (std::size_t i = 0; i < shown; ++i) {
    const Phase& phase = trace.phases[i * (count - 1) / (shown - 1)];
    if (phase.placement.num_tasks() == 0) return {};
    phases.push_back({phase.id, place_times(machine, phase.workload, costs, phase.placement)});
  }
  return phases;
}

std::string phases_html(const std::vector<RecordedPhase>& phases) {
  if (phases.empty()) return "";
  double top_s = 1e-12;
  for (const RecordedPhase& phase : phases) top_s = std::max(top_s, busiest_s(phase.times));
  std::string content;
  for (std::size_t i = 0; i < phases.size(); ++i)
    content += phase_picture(phases[i], i % kPerRow * (kWidth + kGap),
                             4 + i / kPerRow * (kHeight + kCaption + kGap), top_s);
  const std::size_t rows = (phases.size() + kPerRow - 1) / kPerRow;
  const std::size_t per_bar = places_per_bar(phases.front().times.work_s.size());
  return "<h3>Phases, as recorded</h3>\n<div class=\"scroll wide\" tabindex=\"0\">" +
         html_figure(
             svg(kPerRow * (kWidth + kGap) - kGap, 4 + rows * (kHeight + kCaption + kGap),
                 "Busy time of each place in every phase", content),
             "Busy time of each place, all with the same axis. Dotted: the average. The "
             "number is the busiest place's time." +
                 (per_bar > 1 ? fmt::format(" Each bar is the busiest of {} places.", per_bar)
                              : "")) +
         "</div>\n";
}

}  // namespace poise::apps
