// SPDX-License-Identifier: BSD-3-Clause
// Text helpers: split, parse numbers and durations, suggest the nearest name for a typo.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// Returns the pieces of text between separators, empty ones too. An empty text has no pieces.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Returns the words of the text. They are separated by spaces, tabs and line ends.
std::vector<std::string_view> split_at_blanks(std::string_view text);

/// Returns the number that the whole text represents, or nothing. Accepts 1e-5; rejects "nan",
/// "inf", blanks and trailing characters.
std::optional<double> parse_number(std::string_view text);
std::optional<unsigned long long> parse_unsigned(std::string_view text);

/// Returns, in seconds, the duration that the text states with a unit ("2h", "5min", "30s",
/// "100ms", "5us", "20ns"). Returns nothing for any other text and for durations below 0.
std::optional<double> parse_duration_s(std::string_view text);

/// Returns the text with an escape such as \x1b in place of each byte that controls a terminal
/// (below 32, 127, and U+0080 to U+009F) and of each byte that is not UTF-8.
std::string printable(std::string_view text);

/// The edit distance: the number of characters to insert, remove or replace, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name with the smallest edit distance to text, ignoring case; empty if none is near.
std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

/// The text of every error about an unknown name: `unknown KIND "TEXT"; did you mean "NEAREST"?
/// known: a, b, c`.
std::string unknown_name(std::string_view kind, std::string_view text,
                         std::span<const std::string_view> names);

}  // namespace poise
