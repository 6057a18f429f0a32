// Small words on text: splitting, numbers, and the nearest name for a typo.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// The pieces of text between separators; empty pieces are kept, an empty text has none.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The whole text as a number, or nothing. Takes 1e-5, rejects "nan", "inf", blanks and rests.
std::optional<double> parse_number(std::string_view text);
std::optional<unsigned long long> parse_unsigned(std::string_view text);

/// A length of time with its unit, "30s", "100ms", "5us" or "20ns", in seconds; nothing for any
/// other text and for a time below 0.
std::optional<double> parse_duration_s(std::string_view text);

/// The name with the smallest edit distance to text, whatever its case; empty when none is near.
std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

/// `unknown KIND "TEXT"; did you mean "NEAREST"? known: a, b, c`: every unknown name is refused
/// in this form.
std::string unknown_name(std::string_view kind, std::string_view text,
                         std::span<const std::string_view> names);

}  // namespace poise
