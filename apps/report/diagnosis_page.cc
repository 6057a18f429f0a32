// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/diagnosis_page.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "apps/report/diagnosis_pictures.h"
#include "apps/report/diagnosis_text.h"
#include "apps/report/html.h"
#include "apps/report/page_script.h"
#include "apps/report/page_table.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

struct Column {
  std::string_view heading;
  double Efficiencies::*value;
  bool needs_waiting = false;  // true: shown only if the waiting times were measured
  bool needs_nodes = false;    // true: shown only if the run used several nodes
};
constexpr Column kColumns[] = {
    {"parallel", &Efficiencies::parallel},
    {"load balance", &Efficiencies::load_balance},
    {"inside nodes", &Efficiencies::inside_nodes, false, true},
    {"between nodes", &Efficiencies::between_nodes, false, true},
    {"communication", &Efficiencies::communication},
    {"serialisation", &Efficiencies::serialisation, true},
    {"transfer", &Efficiencies::transfer, true},
};

bool has_nodes(const MeasuredRun& run) {
  return std::ranges::any_of(run.node_of_rank, [](std::uint32_t node) { return node > 0; });
}

std::string table_of(const MeasuredRun& run, const Diagnosis& diagnosis) {
  std::vector<Column> columns;
  for (const Column& column : kColumns)
    if ((run.knows_waiting || !column.needs_waiting) && (has_nodes(run) || !column.needs_nodes))
      columns.push_back(column);
  std::vector<std::string> headings{"phases", "time"};
  for (const Column& column : columns) headings.emplace_back(column.heading);
  std::vector<PageRow> rows;
  const auto add = [&](std::string_view name, const Efficiencies& e) {
    PageRow& row = rows.emplace_back(PageRow{std::string(name), {seconds_cell(e.run_s)}});
    for (const Column& column : columns)
      row.cells.push_back({fmt::format("{:.1f} %", 100 * e.*column.value), e.*column.value});
  };
  add("all", diagnosis.whole);
  for (const auto& [name, e] : diagnosis.named) add(name, e);
  return page_table("efficiencies", headings, rows);
}

std::string summary_of(const Diagnosis& diagnosis, const std::string& file) {
  const std::string head =
      fmt::format("Parallel efficiency <b>{:.1f} %</b>. ", 100 * diagnosis.whole.parallel);
  return head + escaped(advice_sentence(diagnosis, diagnosis.advice.front(), file));
}

std::string advice_html(const Diagnosis& diagnosis, const std::string& file) {
  std::string out = "<h3>What would help</h3>\n<ol>\n";
  for (const Advice& advice : diagnosis.advice)
    out += fmt::format("<li>{}</li>\n", escaped(advice_sentence(diagnosis, advice, file)));
  out += "</ol>\n";
  const std::string picture = advice_picture(diagnosis);
  if (picture.empty()) return out;
  return out + "<div class=\"ranking\">" +
         html_figure(picture, "Time saved in this run; each line shows the range of an estimate") +
         "</div>\n";
}

}  // namespace

std::string diagnosis_page(const MeasuredRun& run, const Diagnosis& diagnosis,
                           const std::string& file) {
  const std::string heading =
      fmt::format("{}: {}, {}, {}", file, count_text(run.num_ranks(), "rank"),
                  count_text(run.phases.size(), "phase"), seconds_text(diagnosis.whole.run_s));
  const std::string along =
      "<h3>Efficiencies along the run</h3>\n<p class=\"faint\"><span class=\"key work\"></span>"
      "parallel<span class=\"key deciding\"></span>load balance<span class=\"key comm\"></span>"
      "communication</p>\n<div class=\"wide scroll\" tabindex=\"0\">" +
      efficiency_picture(run) + "</div>\n";
  const std::string ranks =
      "<h3>Ranks</h3>\n<p class=\"faint\"><span class=\"key work\"></span>useful" +
      std::string(run.knows_waiting ? "<span class=\"key idle\"></span>waiting<span class=\"key "
                                      "comm\"></span>transfer</p>\n"
                                    : "<span class=\"key comm\"></span>in MPI</p>\n") +
      html_row({html_figure(rank_times_picture(run), "Where the time of each rank went"),
                html_figure(waiting_picture(run), run.knows_waiting
                                                      ? "Which rank waited for which"
                                                      : "Waiting is not known: the profile lacks "
                                                        "some waits")});
  const std::string body =
      fmt::format(
          "<header><h1>What this run waited for</h1>\n<p class=\"faint\">{}</p></header>\n"
          "<main>\n<section>\n<p class=\"summary\">{}</p>\n<p>{}</p>\n",
          escaped(heading), summary_of(diagnosis, file), escaped(findings_text(run, diagnosis))) +
      advice_html(diagnosis, file) + along + ranks + "<h3>Efficiencies</h3>\n" +
      table_of(run, diagnosis) +
      "<p class=\"faint\">The terms are those of the POP centre of excellence: parallel = load "
      "balance x communication, communication = serialisation x transfer.</p>\n" +
      download_html(diagnosis_json(run, diagnosis)) + "</section>\n</main>\n";
  return html_page("Poise: " + heading, body);
}

}  // namespace poise::apps
