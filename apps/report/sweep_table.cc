// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/sweep_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "apps/text/format.h"

namespace poise::apps {

namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<double>;

bool has_failed(const SweepRow& row) { return !row.error.empty() || row.total_s.empty(); }

bool is_best(const Sweep& sweep, const SweepRow& row) {
  return !has_failed(row) && &sweep.best(row.places) == &row;
}

void add_column(Table& table, const Sweep& sweep, const char* heading,
                const std::function<double(const SweepRow&)>& value,
                Unit (*unit)(double) = nullptr) {
  Figures figures{heading, {}, unit};
  for (const SweepRow& row : sweep.rows)
    if (!has_failed(row)) figures.values.push_back(value(row));
  add_figures(table, figures);
}

std::function<double(const SweepRow&)> middle(Values SweepRow::*member) {
  return [member](const SweepRow& row) { return median(row.*member); };
}

std::vector<std::uint64_t> places_of(const Sweep& sweep) {
  std::vector<std::uint64_t> places;
  for (const SweepRow& row : sweep.rows)
    if (std::find(places.begin(), places.end(), row.places) == places.end())
      places.push_back(row.places);
  return places;
}

const SweepRow* unbalanced(const Sweep& sweep, std::uint64_t places) {
  for (const SweepRow& row : sweep.rows)
    if (row.places == places && row.every == 0) return &row;
  return nullptr;
}

std::string total_text(const SweepRow& row) {
  const auto [least, most] = std::minmax_element(row.total_s.begin(), row.total_s.end());
  std::string text = seconds_text(median(row.total_s));
  if (row.total_s.size() > 1)
    text += fmt::format(" [{}, {}]", seconds_text(*least), seconds_text(*most));
  return text;
}

}  // namespace

Table sweep_table(const Sweep& sweep) {
  Table table{{"strategy\n ", "places\n ", "every\n "}, {}};
  for (const SweepRow& row : sweep.rows) {
    const bool best = is_best(sweep, row);
    table.rows.push_back({{(best ? "* " : "  ") + row.strategy}, row.error, best});
    if (has_failed(row)) continue;
    table.rows.back().cells.push_back(count_text(row.places));
    table.rows.back().cells.push_back(row.every == 0 ? "-" : count_text(row.every));
  }
  const auto extreme = [](auto pick) {
    return [pick](const SweepRow& row) { return *pick(row.total_s.begin(), row.total_s.end()); };
  };
  add_column(table, sweep, "total", middle(&SweepRow::total_s), time_unit);
  if (sweep.seeds.size() > 1) {
    add_column(table, sweep, "at\nleast", extreme(std::min_element<Values::const_iterator>),
               time_unit);
    add_column(table, sweep, "at\nmost", extreme(std::max_element<Values::const_iterator>),
               time_unit);
  }
  add_column(table, sweep, "iteration\nafter", middle(&SweepRow::balanced_s), time_unit);
  add_column(table, sweep, "balancing", middle(&SweepRow::balancing_s), time_unit);
  add_column(table, sweep, "moved\ntasks", middle(&SweepRow::migrations));
  const auto has_idle_share = [](const SweepRow& row) { return !row.idle_share.empty(); };
  if (std::ranges::any_of(sweep.rows, has_idle_share))
    add_column(table, sweep, "idle\nshare", middle(&SweepRow::idle_share));
  return table;
}

std::string sweep_summary(const Sweep& sweep) {
  std::string text;
  for (const std::uint64_t places : places_of(sweep)) {
    const SweepRow& best = sweep.best(places);
    const std::string period = best.every == 0 ? "" : fmt::format(" every {}", best.every);
    text += fmt::format("* best on {}: {}{} takes {}", count_text(places, "place"), best.strategy,
                        period, total_text(best));
    const SweepRow* none = unbalanced(sweep, places);
    if (none != nullptr && none != &best)
      text += fmt::format(", {} without balancing", total_text(*none));
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json add_sweep(nlohmann::ordered_json problem, const Sweep& sweep) {
  problem["seeds"] = sweep.seeds;
  problem["sweep"] = Json::array();
  for (const SweepRow& row : sweep.rows) {
    Json json{{"places", row.places},
              {"every", row.every == 0 ? Json(nullptr) : Json(row.every)},
              {"strategy", row.every == 0 ? Json(nullptr) : Json(row.strategy)}};
    if (has_failed(row)) {
      json["error"] = row.error;
    } else {
      json.update({{"total_s", row.total_s},
                   {"balanced_s", row.balanced_s},
                   {"balancing_s", row.balancing_s},
                   {"migrations", row.migrations},
                   {"best", is_best(sweep, row)}});
      if (!row.idle_share.empty())
        json.update({{"idle_share", row.idle_share}, {"formula_s", row.formula_s}});
    }
    problem["sweep"].push_back(std::move(json));
  }
  return problem;
}

}  // namespace poise::apps
