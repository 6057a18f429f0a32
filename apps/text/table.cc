// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "poise/base/text.h"

namespace poise::apps {

namespace {

constexpr std::size_t kGap = 2;

/// Returns the width of a UTF-8 text in characters, not bytes.
std::size_t width_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

void append_cell(std::string& line, std::string_view text, std::size_t width, bool is_first) {
  const std::string padding(width - std::min(width, width_of(text)), ' ');
  if (is_first)
    line.append(text).append(padding);
  else
    line.append(kGap, ' ').append(padding).append(text);
}

void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

std::vector<std::size_t> column_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& heading : table.headings) {
    std::size_t width = 0;
    for (const std::string_view line : split(heading, '\n'))
      width = std::max(width, width_of(line));
    widths.push_back(width);
  }
  for (const Table::Row& row : table.rows)
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      widths[c] = std::max(widths[c], width_of(row.cells[c]));
  return widths;
}

/// Headings are aligned at the bottom, so short ones have blank lines above them.
void append_headings(const Table& table, const std::vector<std::size_t>& columns,
                     const std::vector<std::size_t>& widths, std::string& text) {
  std::size_t height = 0;
  for (const std::size_t c : columns)
    height = std::max(height, split(table.headings[c], '\n').size());
  for (std::size_t line = 0; line < height; ++line) {
    for (const std::size_t c : columns) {
      const auto lines = split(table.headings[c], '\n');
      const std::size_t blank = height - lines.size();
      append_cell(text, line < blank ? "" : lines[line - blank], widths[c], c == 0);
    }
    end_line(text);
  }
}

/// Appends the words of a remark from column `indent` on. Lines end before column `width`, if that
/// is not 0.
void append_remark(std::string_view remark, std::size_t indent, std::size_t width,
                   std::string& text) {
  std::size_t column = indent;
  for (const std::string_view word : split(remark, ' ')) {
    if (width > 0 && column + 1 + width_of(word) > width && column > indent) {
      end_line(text);
      text.append(indent, ' ');
      column = indent;
    }
    text.append(column == indent ? kGap : 1, ' ').append(word);
    column += (column == indent ? kGap : 1) + width_of(word);
  }
}

/// The characters and the style with which rows are drawn.
struct Style {
  std::size_t width;  // number of columns of the terminal; 0: unknown
  bool is_bold;       // the best row
};

void append_block(const Table& table, const std::vector<std::size_t>& columns,
                  const std::vector<std::size_t>& widths, const Style& style, std::string& text) {
  append_headings(table, columns, widths, text);
  for (const Table::Row& row : table.rows) {
    std::string line;
    for (const std::size_t c : columns)
      if (c < row.cells.size()) append_cell(line, row.cells[c], widths[c], c == 0);
    if (!row.remark.empty()) append_remark(row.remark, widths[0], style.width, line);
    end_line(line);
    if (row.is_best && style.is_bold)
      text += fmt::format("\x1b[1m{}\x1b[0m\n", line.substr(0, line.size() - 1));
    else
      text += line;
  }
}

/// Returns the text as a cell of a Markdown table. Replaces line breaks by spaces and escapes
/// vertical bars, because a line break or a bar would end the cell.
std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (const char c : text.substr(0, text.find_last_not_of(" \n") + 1))
    cell += c == '\n' ? " " : c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

/// A negative number that is rounded to 0 gets no sign.
std::string rounded(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (value < 0 && text.find_first_of("123456789") == text.npos) text.erase(0, 1);
  return text;
}

}  // namespace

void add_figures(Table& table, const Figures& figures) {
  std::vector<double> known;
  for (const auto& value : figures.values)
    if (value) known.push_back(*value);
  const double largest = known.empty() ? 0 : *std::max_element(known.begin(), known.end());
  if (largest <= 0 && known.size() == figures.values.size()) return;
  const Unit unit = figures.unit ? figures.unit(largest) : Unit{" ", 1};
  for (double& value : known) value /= unit.value;
  const int decimals = decimals_for(known);
  table.headings.push_back(fmt::format("{}\n{}", figures.heading, unit.name));
  auto value = figures.values.begin();
  for (Table::Row& row : table.rows) {
    if (!row.remark.empty()) continue;
    row.cells.push_back(*value ? rounded(**value / unit.value, decimals) : "unknown");
    ++value;
  }
}

std::string markdown(const Table& table) {
  std::string text;
  const auto append_line = [&](const auto& cells) {
    text += "|";
    for (const std::string& cell : cells) text += fmt::format(" {} |", markdown_cell(cell));
    text += "\n";
  };
  append_line(table.headings);
  text += "|---|";
  for (std::size_t c = 1; c < table.headings.size(); ++c) text += "---:|";
  text += "\n";
  for (const Table::Row& row : table.rows) {
    std::vector<std::string> cells = row.cells;
    if (!row.remark.empty()) cells.push_back(row.remark);
    cells.resize(table.headings.size());
    append_line(cells);
  }
  return text;
}

std::string render(const Table& table, std::size_t width, bool is_bold) {
  const std::vector<std::size_t> widths = column_widths(table);
  std::string text;
  std::size_t next = 1;
  while (next < table.headings.size()) {
    std::vector<std::size_t> columns{0};
    std::size_t used = widths[0];
    for (; next < table.headings.size(); ++next) {
      used += kGap + widths[next];
      if (width > 0 && used > width && columns.size() > 1) break;
      columns.push_back(next);
    }
    if (!text.empty()) text += '\n';
    append_block(table, columns, widths, {width, is_bold}, text);
  }
  return text;
}

}  // namespace poise::apps
