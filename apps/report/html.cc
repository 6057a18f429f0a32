// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/html.h"

#include <cmath>
#include <fmt/format.h>
#include <iterator>

#include "apps/report/page_script.h"

#include "poise/base/version.h"
#include "poise/strategies/strategy.h"

namespace poise::apps {

namespace {

constexpr std::string_view kStyle =
#include "apps/report/page.css.inc"  // CMake converts page.css to this literal
    ;

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

std::string shortened(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end) + "…";
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}"
      "<p class=\"faint\">Made by poise {}.</p>\n<script>{}</script>\n</body>\n</html>\n",
      escaped(title), kStyle, body, version(), page_script());
}

std::string html_figure(std::string_view svg, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, caption);
}

std::string html_row(const std::vector<std::string>& figures) {
  return fmt::format("<div class=\"row\">\n{}</div>\n", fmt::join(figures, ""));
}

std::string svg(double width, double height, std::string_view label, std::string_view content) {
  return fmt::format("<svg viewBox=\"0 0 {:.6g} {:.6g}\" role=\"img\" aria-label=\"{}\">\n{}</svg>",
                     width, height, escaped(label), content);
}

std::string svg_text(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:.6g}\" y=\"{:.6g}\" class=\"{}\">{}</text>\n", x, y, style,
                     escaped(text));
}

std::string svg_box(double x, double y, double width, double height, std::string_view style,
                    std::string_view note) {
  return fmt::format(
      "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" class=\"{}\"{}/>\n", x, y,
      width, height, style, note.empty() ? "" : fmt::format(" data-note=\"{}\"", escaped(note)));
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format(
      "<line x1=\"{:.6g}\" y1=\"{:.6g}\" x2=\"{:.6g}\" y2=\"{:.6g}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, style);
}

std::string colour_of(std::string_view strategy) {
  const std::string_view name = strategy.substr(0, strategy.find(':'));
  if (name == "keep" || name == "no balancing") return "currentColor";
  constexpr double kGoldenAngle = 137.508;  // degrees of hue between strategies in adjacent rows
  // Strategies that are eight rows apart in the table differ by only 20 degrees of hue. So
  // successive rows also get different lightnesses: the three values below, in turn.
  constexpr int kLightness[] = {34, 50, 66};
  std::size_t row = 0;
  while (row < strategies().size() && strategies()[row].name != name) ++row;
  if (row == strategies().size())
    for (const char c : strategy) row += static_cast<unsigned char>(c);
  const double hue = std::fmod(210 + kGoldenAngle * row, 360);
  return fmt::format("hsl({:.0f} 70% {}%)", hue, kLightness[row % std::size(kLightness)]);
}

std::vector<double> axis_ticks(double top, int most) {
  if (!(top > 0)) return {0};
  double step = std::pow(10, std::floor(std::log10(top / most)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (top / step <= most) break;
    step *= factor;
  }
  std::vector<double> ticks;
  for (int i = 0; i * step <= top * (1 + 1e-9); ++i) ticks.push_back(i * step);
  return ticks;
}

std::string axis_title(std::string_view what, std::size_t per_bar, std::string_view line) {
  if (per_bar <= 1) return std::string(what);
  return fmt::format("{} (bar: the mean of {}; line: {})", what, per_bar, line);
}

}  // namespace poise::apps
