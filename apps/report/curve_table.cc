// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/curve_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/analysis/sizes.h"
#include "apps/report/html.h"
#include "apps/report/page_table.h"
#include "apps/text/format.h"
#include "apps/text/table.h"

#include "poise/search/returns.h"

namespace poise::apps {

namespace {

std::size_t shortest(const std::vector<CurvePoint>& curve, std::uint64_t every) {
  const auto shorter = [every](const CurvePoint& a, const CurvePoint& b) {
    return a.total_s(every) < b.total_s(every);
  };
  return std::min_element(curve.begin(), curve.end(), shorter) - curve.begin();
}

}  // namespace

std::vector<CurvePoint> curve_of(const Problem& problem, const Placement& placement) {
  std::vector<CurvePoint> curve;
  for (const Outcome& outcome : curve_to_current(Way(problem), placement)) {
    const std::uint64_t tasks = migrations(problem.current, outcome.placement).size();
    if (!curve.empty() && curve.back().tasks == tasks) continue;
    curve.push_back({outcome.iteration_s, outcome.migration_s, tasks, outcome.migrated_bytes,
                     tasks / std::max<double>(1, problem.workload.num_tasks())});
  }
  return curve;
}

std::string curve_text(const std::vector<CurvePoint>& curve, const std::string& strategy,
                       std::uint64_t every, bool has_sizes) {
  Table table{{"moved\ntasks", "share\n ", "bytes\n ", "iteration\n ", "moving\n ",
               fmt::format("total of\n{} phases", every)},
              {}};
  const std::size_t best = shortest(curve, every);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const CurvePoint& point = curve[i];
    const bool is_known = knows_migration_cost(point.tasks, has_sizes);
    const auto known = [is_known](std::string text) { return is_known ? text : "unknown"; };
    table.rows.push_back(
        {{(i == best ? "* " : "  ") + count_text(point.tasks),
          fmt::format("{:.1f}%", 100 * point.share), known(bytes_text(point.bytes)),
          seconds_text(point.iteration_s), known(seconds_text(point.migration_s)),
          seconds_text(point.total_s(every))},
         "",
         i == best});
  }
  return fmt::format("from the placement of {} back to the current one, without deciding:\n",
                     strategy) +
         render(table, 0);
}

std::string curve_html(const std::vector<CurvePoint>& curve, const std::string& strategy,
                       std::uint64_t every, bool has_sizes) {
  std::vector<PageRow> rows;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const CurvePoint& point = curve[i];
    const bool is_known = knows_migration_cost(point.tasks, has_sizes);
    const PageCell unknown{"unknown"};
    rows.push_back({count_text(point.tasks),
                    {{fmt::format("{:.1f}%", 100 * point.share), point.share},
                     is_known ? bytes_cell(point.bytes) : unknown,
                     seconds_cell(point.iteration_s),
                     is_known ? seconds_cell(point.migration_s) : unknown,
                     seconds_cell(point.total_s(every))},
                    "",
                    i == shortest(curve, every)});
  }
  return fmt::format(
             "<h3>From the placement of {} back to the current one, without deciding</h3>\n",
             escaped(strategy)) +
         page_table("curve",
                    {"moved tasks", "share", "bytes", "iteration", "moving",
                     fmt::format("total of {} phases", every)},
                    rows);
}

nlohmann::ordered_json json_of(const std::vector<CurvePoint>& curve, std::uint64_t every,
                               bool has_sizes) {
  auto points = nlohmann::ordered_json::array();
  for (const CurvePoint& point : curve) {
    nlohmann::ordered_json json{
        {"iteration_s", point.iteration_s}, {"migration_s", point.migration_s},
        {"total_s", point.total_s(every)},  {"migrations", point.tasks},
        {"migrated_share", point.share},    {"migrated_bytes", point.bytes}};
    if (!knows_migration_cost(point.tasks, has_sizes))
      json["migrated_bytes"] = json["migration_s"] = nullptr;
    points.push_back(std::move(json));
  }
  return points;
}

}  // namespace poise::apps
