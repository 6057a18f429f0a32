// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/compare_table.h"

#include <fmt/format.h>
#include <functional>
#include <optional>

#include "apps/report/metrics.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

using Row = Comparison::Row;
using Rows = std::vector<const Row*>;

/// Returns the value of a column in a row, or nothing if it is unknown.
using Value = std::function<std::optional<double>(const Row&)>;

struct Column {
  std::string heading;
  Value value;
  Unit (*unit)(double largest) = nullptr;
};

Value number(auto member) {
  return [member](const Row& row) -> double { return row.metrics.*member; };
}

/// Returns a function that gives the cost of a row's migrations: their bytes or their time, as
/// `member` selects. The cost is unknown if tasks of unknown size move.
Value migration_cost(const Comparison& comparison, auto member) {
  return [&comparison, member](const Row& row) {
    return knows_migration_cost(row.metrics.migrations, comparison.has_sizes)
               ? std::optional(static_cast<double>(row.metrics.*member))
               : std::nullopt;
  };
}

std::vector<Column> more_columns(const Comparison& comparison) {
  return {
      {"max\ncomm", number(&Metrics::max_comm_s), time_unit},
      {"hop-\nbytes", number(&Metrics::hop_bytes), byte_unit},
      {"inter-\nnode", number(&Metrics::internode_bytes), byte_unit},
      {"NUCO\nmessages", number(&Metrics::nuco_messages)},
      {"moved\nat least", [](const Row& row) -> double { return row.least.tasks; }},
      {"moved\nbytes", migration_cost(comparison, &Metrics::migrated_bytes), byte_unit},
      {"moving", migration_cost(comparison, &Metrics::migration_s), time_unit},
      {"deciding", [](const Row& row) { return row.decision_s; }, time_unit},
  };
}

void add_column(Table& table, const Rows& rows, const Column& column) {
  Figures figures{column.heading, {}, column.unit};
  for (const Row* row : rows)
    if (row->error.empty()) figures.values.push_back(column.value(*row));
  add_figures(table, figures);
}

/// Adds two columns that compare the iteration time of each strategy: with that of the current
/// placement, and with the lower bound.
void add_changes(Table& table, const Rows& rows, const Comparison& comparison) {
  table.headings.insert(table.headings.end(), {"against\nkeep\n ", "above\nbound\n "});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!rows[r]->error.empty()) continue;
    const double iteration_s = rows[r]->metrics.iteration_s;
    table.rows[r].cells.push_back(change_text(iteration_s, comparison.keep.iteration_s));
    table.rows[r].cells.push_back(change_text(iteration_s, comparison.iteration_bound_s));
  }
}

}  // namespace

Table comparison_table(const Comparison& comparison, std::uint64_t every, bool is_wide) {
  const Rows rows = ranked(comparison);
  Table table{{"strategy\n "}, {}};
  for (const Row* row : rows) {
    const bool is_best = comparison.best && row == &comparison.best_row();
    table.rows.push_back({{(is_best ? "* " : "  ") + row->strategy}, row->error, is_best});
  }
  add_column(table, rows, {"iteration", number(&Metrics::iteration_s), time_unit});
  add_changes(table, rows, comparison);
  add_column(table, rows, {"imbalance", number(&Metrics::imbalance)});
  add_column(table, rows, {"moved\ntasks", number(&Metrics::migrations)});
  if (is_wide)
    for (const Column& column : more_columns(comparison)) add_column(table, rows, column);
  const auto total_s = [every](const Row& row) {
    return amortised_s(row.metrics, row.decision_s, every);
  };
  add_column(table, rows, {fmt::format("total of\n{} phases", every), total_s, time_unit});
  return table;
}

}  // namespace poise::apps
