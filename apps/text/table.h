// Tables on a terminal: aligned columns, headings of several lines, cut into blocks to fit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/text/format.h"

namespace poise::apps {

struct Table {
  struct Row {
    std::vector<std::string> cells;  // as many as headings, or the first alone
    std::string remark = {};         // in place of the other cells
    bool is_best = false;            // bold on a terminal
  };

  std::vector<std::string> headings;  // lines apart by '\n'; the first column is left-aligned
  std::vector<Row> rows;
};

/// A column of numbers that share a unit.
struct Figures {
  std::string heading;
  std::vector<std::optional<double>> values;  // per row without a remark; nothing: unknown
  Unit (*unit)(double largest) = nullptr;     // null: as the number is
};

/// Adds the column; without any figure above 0 and none unknown it says nothing and is left out.
void add_figures(Table& table, const Figures& figures);

/// The table as text. Where `width` is not 0, columns that do not fit go to further blocks, each
/// beginning with the first column, and remarks are wrapped. `is_bold` sets the best row in bold.
std::string render(const Table& table, std::size_t width, bool is_bold = false);

/// The table in Markdown.
std::string markdown(const Table& table);

}  // namespace poise::apps
