// Tables on a terminal: aligned columns, headings of several lines, cut into blocks to fit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace poise::apps {

struct Table {
  struct Row {
    std::vector<std::string> cells;  // as many as headings, or the first alone
    std::string remark;              // in place of the other cells
  };

  std::vector<std::string> headings;  // lines apart by '\n'; the first column is left-aligned
  std::vector<Row> rows;
};

/// The table as text. Where `width` is not 0, columns that do not fit go to further blocks, each
/// beginning with the first column.
std::string render(const Table& table, std::size_t width);

}  // namespace poise::apps
