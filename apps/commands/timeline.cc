// SPDX-License-Identifier: BSD-3-Clause
// `poise timeline`: shows what every place did over time in recorded runs.
#include "poise/trace/timeline.h"

#include <CLI/CLI.hpp>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/analysis/inputs.h"
#include "apps/commands/commands.h"
#include "apps/report/timeline_pictures.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"
#include "apps/text/table.h"

#include "poise/base/file.h"
#include "poise/base/text.h"

namespace poise::apps {

namespace {

struct TimelineOptions {
  std::vector<std::string> files;
  std::string html;
  bool json = false;
};

std::string text_of(const Timeline& timeline) {
  Table table{{"place"}, {}};
  std::array<std::vector<std::optional<double>>, 3> seconds;
  for (std::size_t p = 0; p < timeline.places.size(); ++p) {
    table.rows.push_back({{printable(name_of(timeline, p))}});
    const auto of_place = seconds_of(timeline.places[p]);
    for (std::size_t a = 0; a < of_place.size(); ++a) seconds[a].emplace_back(of_place[a]);
  }
  for (std::size_t a = 0; a < seconds.size(); ++a)
    add_figures(table, {std::string(kActivities[a]), seconds[a], time_unit});
  return fmt::format("{}: {}, {}\n\n{}", printable(timeline.title),
                     count_text(timeline.places.size(), "place"), seconds_text(end_s(timeline)),
                     render(table, terminal_width()));
}

nlohmann::ordered_json json_of(const Timeline& timeline) {
  auto places = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < timeline.places.size(); ++p) {
    nlohmann::ordered_json place{{"place", name_of(timeline, p)}};
    const auto seconds = seconds_of(timeline.places[p]);
    for (std::size_t a = 0; a < seconds.size(); ++a)
      place[fmt::format("{}_s", kActivities[a])] = seconds[a];
    places.push_back(std::move(place));
  }
  return {{"title", timeline.title}, {"end_s", end_s(timeline)}, {"places", std::move(places)}};
}

void show(const TimelineOptions& options) {
  check_outputs({options.html}, options.files);
  std::vector<Timeline> timelines;
  std::string text;
  auto json = nlohmann::ordered_json::array();
  check_stdin(options.files);
  for (const std::string& path : options.files) {
    timelines.push_back(read_timeline(path));
    text += (text.empty() ? "" : "\n") + text_of(timelines.back());
    json.push_back(json_of(timelines.back()));
  }
  const std::string document = document_text({{"timelines", json}});
  if (!options.html.empty()) write_file(options.html, timelines_page(timelines, document));
  print(options.json ? document : text);
}

}  // namespace

void add_timeline(CLI::App& app) {
  auto options = std::make_shared<TimelineOptions>();
  CLI::App* command =
      app.add_subcommand("timeline", "Show what every place did over time in a run");
  command
      ->add_option("files", options->files,
                   "Written by POISE_TIMELINE (objects), POISE_TASKS_TRACE (tasks), poise juggle "
                   "--trace, or poise simulate --timeline")
      ->type_name("FILE")
      ->option_text("FILE...")
      ->required();
  add_text(*command, "--html", "FILE", options->html, "Write an HTML page with a picture of each");
  command->add_flag("--json", options->json, "Print one JSON document and nothing else");
  command->footer(
      "The web site https://ui.perfetto.dev opens these files, too.\n\n"
      "Example: poise timeline run.json --html run.html");
  command->callback([options] { show(*options); });
}

}  // namespace poise::apps
