// SPDX-License-Identifier: BSD-3-Clause
// Tables of a report page. The page's script sorts them by any column and saves them as CSV.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poise::apps {

/// A table cell with a number. The table shows `text`; the script of the page sorts by `value` and
/// writes `value` to the CSV file. Without a `value`, the script uses `text`.
struct PageCell {
  std::string text;
  std::optional<double> value = std::nullopt;
};

PageCell seconds_cell(double seconds);
PageCell bytes_cell(double bytes);
PageCell count_cell(std::uint64_t count);
/// Returns the relative change from `from` to `value`, as a cell.
PageCell change_cell(double value, double from);
PageCell digits_cell(double value);

struct PageRow {
  std::string name;
  std::vector<PageCell> cells;
  std::string remark = {};  // replaces the cells
  bool is_best = false;
};

/// Returns the table as HTML. The first of `headings` stands above the names of the rows. `name`
/// identifies the table in the CSV file that readers can save.
std::string page_table(std::string_view name, const std::vector<std::string>& headings,
                       const std::vector<PageRow>& rows);

}  // namespace poise::apps
