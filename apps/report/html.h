// SPDX-License-Identifier: BSD-3-Clause
// Building blocks of a self-contained HTML page. The page loads no other files, and follows the
// reader's light or dark theme.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace poise::apps {

/// Escapes the five special characters of HTML.
std::string escaped(std::string_view text);

/// Returns a name in UTF-8 that has at most `most` bytes as it is. Cuts a longer name between two
/// characters to at most `most` - 1 bytes, and appends an ellipsis, which has three more bytes.
std::string shortened(const std::string& name, std::size_t most);

/// Returns a complete page. `body` is HTML, `title` is text.
std::string html_page(std::string_view title, std::string_view body);

/// Returns an SVG with a caption below it. Both arguments are HTML.
std::string html_figure(std::string_view svg, std::string_view caption);

/// Places figures side by side if the screen is wide enough.
std::string html_row(const std::vector<std::string>& figures);

/// Returns an SVG of width x height units that scales with the page. `label` is for screen readers.
std::string svg(double width, double height, std::string_view label, std::string_view content);

/// Returns an SVG text. `style` is a list of the page's classes: "start", "end", "strong", "faint".
std::string svg_text(double x, double y, std::string_view style, std::string_view text);

/// Returns an SVG rectangle. `note` is shown while the pointer is on the rectangle.
std::string svg_box(double x, double y, double width, double height, std::string_view style,
                    std::string_view note = {});
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style);

/// Returns the colour of a strategy. It is the same on all pages and for all values of the
/// strategy's knobs, and is legible in the light and in the dark theme.
std::string colour_of(std::string_view strategy);

/// Returns the ticks of an axis from 0 to `top`: multiples of 1, 2 or 5 times a power of ten, with
/// at most `most` of them above 0.
std::vector<double> axis_ticks(double top, int most);

/// Returns the title of an axis with a bar per `what`, for example per "place". If each bar stands
/// for several places (`per_bar`), the title also says that the bar shows their mean, and that the
/// line on the bar shows `line`.
std::string axis_title(std::string_view what, std::size_t per_bar, std::string_view line);

}  // namespace poise::apps
