// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/page_table.h"

#include <fmt/format.h>

#include "apps/report/html.h"
#include "apps/text/format.h"

namespace poise::apps {

PageCell seconds_cell(double seconds) { return {seconds_text(seconds), seconds}; }
PageCell bytes_cell(double bytes) { return {bytes_text(bytes), bytes}; }
PageCell count_cell(std::uint64_t count) { return {count_text(count), static_cast<double>(count)}; }
PageCell change_cell(double value, double from) {
  return {change_text(value, from), from > 0 ? std::optional(value / from - 1) : std::nullopt};
}
PageCell digits_cell(double value) { return {digits(value), value}; }

std::string page_table(std::string_view name, const std::vector<std::string>& headings,
                       const std::vector<PageRow>& rows) {
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\" data-name=\"{}\">\n<tr>",
      escaped(name));
  for (const std::string& heading : headings)
    out += fmt::format("<th scope=\"col\">{}</th>", escaped(heading));
  out += "</tr>\n";
  for (const PageRow& row : rows) {
    out += fmt::format("<tr{}><th scope=\"row\">{}</th>", row.is_best ? " class=\"best\"" : "",
                       escaped(row.name));
    if (!row.remark.empty())
      out += fmt::format("<td class=\"why\" colspan=\"{}\">{}</td>", headings.size() - 1,
                         escaped(row.remark));
    else
      for (const PageCell& cell : row.cells)
        out += cell.value ? fmt::format("<td data-v=\"{}\">{}</td>", *cell.value, cell.text)
                          : fmt::format("<td>{}</td>", cell.text);
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace poise::apps
