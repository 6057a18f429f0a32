// SPDX-License-Identifier: BSD-3-Clause
// Tables for a terminal: columns are aligned, headings may have several lines, and a table that is
// too wide is split into blocks of columns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/text/format.h"

namespace poise::apps {

struct Table {
  struct Row {
    std::vector<std::string> cells;  // one per heading; only the first if there is a remark
    std::string remark = {};         // if not empty, shown instead of the other cells
    bool is_best = false;            // shown in bold on a terminal
  };

  // A heading may have several lines, separated by '\n'. The first column is left-aligned.
  std::vector<std::string> headings;
  std::vector<Row> rows;
};

/// A column of numbers that share a unit.
struct Figures {
  std::string heading;
  /// The values of those rows that have no remark. A missing value is shown as "unknown".
  std::vector<std::optional<double>> values;
  Unit (*unit)(double largest) = nullptr;  // null: no unit
};

/// Adds the column, unless all values are known and none of them is above 0.
void add_figures(Table& table, const Figures& figures);

/// Returns the table as text. If `width` is not 0, lines have at most `width` characters: remarks
/// are wrapped, and columns that do not fit follow in further blocks, each of which begins with the
/// first column. If `is_bold`, the best row is printed in bold.
std::string render(const Table& table, std::size_t width, bool is_bold = false);

/// Returns the table in Markdown.
std::string markdown(const Table& table);

}  // namespace poise::apps
