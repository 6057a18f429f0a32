#include "apps/table.h"

#include <algorithm>
#include <string_view>

#include "poise/base/text.h"

namespace poise::apps {

namespace {

constexpr std::size_t kGap = 2;

/// Characters, not bytes, of UTF-8 text.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
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

/// Headings stand on the line above the rows: short ones have blank lines before them.
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

void append_block(const Table& table, const std::vector<std::size_t>& columns,
                  const std::vector<std::size_t>& widths, std::string& text) {
  append_headings(table, columns, widths, text);
  for (const Table::Row& row : table.rows) {
    for (const std::size_t c : columns)
      if (c < row.cells.size()) append_cell(text, row.cells[c], widths[c], c == 0);
    if (!row.remark.empty()) text.append(kGap, ' ').append(row.remark);
    end_line(text);
  }
}

}  // namespace

std::string render(const Table& table, std::size_t width) {
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
    append_block(table, columns, widths, text);
  }
  return text;
}

}  // namespace poise::apps
