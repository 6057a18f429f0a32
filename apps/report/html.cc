// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/html.h"

#include <cmath>
#include <fmt/format.h>

#include "apps/report/page_script.h"

#include "poise/base/version.h"
#include "poise/strategies/strategy.h"

namespace poise::apps {

namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2430; --faint: #5d6978; --rule: #d5dbe2;
  --work: #2f6fb5; --comm: #e08a1e; --bound: #b3261e; --heat: #7a1fa2; --box: #f3f6f9;
  --good: #e5f2e8; --good-ink: #17612b; --idle: #d9dee5; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181e; --ink: #e4e9ef; --faint: #97a3b1;
  --rule: #343c47; --work: #6aa9e9; --comm: #f0a94e; --bound: #ff8a80; --heat: #d59bf0;
  --box: #1d232b; --good: #1c3324; --good-ink: #8fd6a3; --idle: #39424e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.25rem; max-width: 76rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .25rem;
  padding-top: 1rem; border-top: 1px solid var(--rule); } h3 { font-size: 1rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; } p.faint, figcaption, footer { color: var(--faint); font-size: .9rem; }
.summary { font-size: 1.1rem; padding: .75rem 1rem; margin: 1rem 0; border-radius: .5rem;
  background: var(--good); } .summary b { color: var(--good-ink); }
.row { display: flex; flex-wrap: wrap; gap: 1.5rem; } .row > * { flex: 1 1 20rem; min-width: 0; }
figure { margin: 0; } .ranking { max-width: 44rem; margin-bottom: 1rem; } svg { display: block; width: 100%; height: auto; }
figcaption { margin-top: .25rem; } nav a { margin-right: 1rem; } a { color: var(--work); }
.scroll { overflow-x: auto; } .wide { margin: .75rem 0; } .wide svg { min-width: 40rem; } table { border-collapse: collapse; font-size: .75rem; width: 100%;
  font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .25rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }
th { font-weight: 600; vertical-align: bottom; } th[scope=col] { white-space: normal; } th:first-child, td.why { text-align: left; }
td.why { color: var(--faint); white-space: normal; } tr.best > * { background: var(--good); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; font-size: .9rem; }
dt { font-weight: 600; } dd { margin: 0; color: var(--faint); }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em; }
.key.work { background: var(--work); } .key.comm { background: var(--comm); }
.key.idle { background: var(--idle); } .key.deciding { background: var(--heat); }
.key.bound { height: 0; border-top: 2px dashed var(--bound); vertical-align: middle; width: 1.2em; }
.key.peak { height: .15em; background: var(--ink); vertical-align: middle; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); text-anchor: middle; }
svg .start { text-anchor: start; } svg .end { text-anchor: end; } svg .strong { font-weight: 600; }
svg text.faint { fill: var(--faint); } svg .rule { stroke: var(--rule); }
svg .work { fill: var(--work); } svg .comm { fill: var(--comm); } svg .idle { fill: var(--idle); } svg .deciding { fill: var(--heat); } svg .peak { stroke: var(--ink); }
svg .bound { stroke: var(--bound); stroke-dasharray: 5 3; stroke-width: 1.5; }
svg text.bounded { fill: var(--bound); } svg .mean { stroke: var(--faint); stroke-dasharray: 2 3; }
svg .plain { fill: var(--work); fill-opacity: .45; } svg .heat { fill: var(--heat); }
svg .frame { fill: none; stroke: var(--rule); } svg .group { fill: var(--box); stroke: var(--rule); }
svg .point { stroke: var(--paper); stroke-width: 1; fill-opacity: .8; }
svg .halo { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; } svg .cover { fill: transparent; }
svg .node { stroke: var(--ink); stroke-opacity: .45; stroke-width: .7; }
button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
th button { text-align: inherit; } th button:hover { text-decoration: underline; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
.tools { margin: .5rem 0 1rem; } .tools button { border: 1px solid var(--rule); border-radius: .3rem; padding: .2rem .6rem; margin-right: .5rem; font-size: .9rem; }
.note { position: fixed; z-index: 1; max-width: 20rem; padding: .2rem .5rem; border-radius: .3rem; font-size: .8rem;
  background: var(--ink); color: var(--paper); pointer-events: none; white-space: pre-line; }
@media print { body { max-width: none; font-size: 12px; } .tools, .note { display: none; }
  h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; } .scroll { overflow: visible; } }
@media (max-width: 30rem) { body { padding: .75rem; } h1 { font-size: 1.25rem; } }
svg .place { fill: var(--work); fill-opacity: .25; stroke: var(--work); stroke-opacity: .6; }
)";

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
  constexpr double kGoldenAngle = 137.508;  // neighbours in the table get distant hues
  std::size_t row = 0;
  while (row < strategies().size() && strategies()[row].name != name) ++row;
  if (row == strategies().size())
    for (const char c : strategy) row += static_cast<unsigned char>(c);
  const double hue = std::fmod(210 + kGoldenAngle * static_cast<double>(row), 360);
  return fmt::format("hsl({:.0f} 60% {}%)", hue, row % 2 == 0 ? 58 : 42);
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

}  // namespace poise::apps
