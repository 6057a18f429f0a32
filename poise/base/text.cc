// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>

namespace poise {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns the number of bytes of the character in UTF-8 with which the text begins. Returns 0 if
/// the text does not begin with one, or if the character controls a terminal.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7F ? 1 : 0;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  std::uint32_t character = first & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3F);
  }
  // The smallest accepted characters of 2, 3 and 4 bytes. The first is not 0x80, because U+0080 to
  // U+009F control terminals.
  constexpr std::uint32_t kLeast[] = {0xA0, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
  const bool is_valid =
      first >= 0xC0 && first < 0xF8 && character >= kLeast[size - 2] && character <= 0x10FFFF;
  return is_valid && !is_surrogate ? size : 0;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  if (text.empty()) return pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> split_at_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string_view> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return words;
    words.push_back(text.substr(0, text.find_first_of(kBlanks)));
    text.remove_prefix(words.back().size());
  }
}

std::optional<double> parse_number(std::string_view text) {
  const auto value = parse_whole<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<unsigned long long> parse_unsigned(std::string_view text) {
  return parse_whole<unsigned long long>(text);
}

std::optional<double> parse_duration_s(std::string_view text) {
  struct Unit {
    std::string_view name;
    double per_s, seconds;  // the unit is seconds / per_s; one of the two numbers is 1
  };
  constexpr Unit kUnits[] = {{"min", 1, 60},
                             {"h", 1, 3600},
                             // "s" is last, because "ns", "us" and "ms" also end in "s".
                             {"ns", 1e9, 1},
                             {"us", 1e6, 1},
                             {"ms", 1e3, 1},
                             {"s", 1, 1}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto count = parse_number(text.substr(0, text.size() - unit.name.size()));
    if (!count || *count < 0) return std::nullopt;
    return *count * unit.seconds / unit.per_s;
  }
  return std::nullopt;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = printable_bytes(text);
    if (bytes == 0)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else
      result.append(text.substr(0, bytes));
    text.remove_prefix(std::max<std::size_t>(1, bytes));
  }
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, text.size() / 2) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::string unknown_name(std::string_view kind, std::string_view text,
                         std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(text, names);
  const std::string hint = nearest.empty() ? "" : fmt::format("did you mean \"{}\"? ", nearest);
  return fmt::format("unknown {} \"{}\"; {}known: {}", kind, text, hint, fmt::join(names, ", "));
}

}  // namespace poise
