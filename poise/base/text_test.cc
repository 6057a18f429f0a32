// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/text.h"

#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>

#include "poise/base/random.h"

namespace poise {
namespace {

TEST(Text, parses_and_prints_durations_with_their_unit) {
  EXPECT_EQ(parse_duration_s("30s"), 30);
  EXPECT_EQ(parse_duration_s("24h"), 86400);
  EXPECT_EQ(parse_duration_s("1.5min"), 90);
  EXPECT_EQ(parse_duration_s("100ms"), 0.1);
  EXPECT_EQ(parse_duration_s("2.5us"), 2.5e-6);
  EXPECT_EQ(parse_duration_s("20ns"), 2e-8);
  EXPECT_EQ(parse_duration_s("0s"), 0);
  for (const char* text :
       {"", "s", "30", "30 s", "-1s", "nans", "infs", "1m", "h", "1H", "ms", "1e999s"})
    EXPECT_EQ(parse_duration_s(text), std::nullopt) << text;
}

TEST(Text, bytes_that_control_a_terminal_or_are_not_utf_8_are_printed_as_escapes) {
  for (const char* text : {"", "a b~", "µs", "…", "\xF0\x9F\x98\x80", "\xC2\xA0"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("a\x1b[31m\tb\x7f\n"), "a\\x1b[31m\\x09b\\x7f\\x0a");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b") << "control sequence introducer";
  EXPECT_EQ(printable("\xFF\x80\xC3"), "\\xff\\x80\\xc3");
  EXPECT_EQ(printable("\xC3(\xE2\x80"), "\\xc3(\\xe2\\x80") << "too few bytes";
  EXPECT_EQ(printable("\xC0\xAF\xED\xA0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80")
      << "too long, and a surrogate";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "above U+10FFFF";
}

TEST(Text, a_text_is_split_at_each_separator_and_pieces_may_be_empty) {
  const auto pieces = [](std::string_view text) { return split(text, ','); };
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(pieces(""), Pieces{});
  EXPECT_EQ(pieces("ab"), Pieces{"ab"});
  EXPECT_EQ(pieces("a,bc,d"), (Pieces{"a", "bc", "d"}));
  EXPECT_EQ(pieces(",a,,b,"), (Pieces{"", "a", "", "b", ""}));
}

TEST(Text, words_are_separated_by_any_number_of_spaces_and_tabs_and_line_ends) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_at_blanks(""), Words{});
  EXPECT_EQ(split_at_blanks(" \t\r\n"), Words{});
  EXPECT_EQ(split_at_blanks("ab"), Words{"ab"});
  EXPECT_EQ(split_at_blanks("  a\tbc \r\n d,e\n"), (Words{"a", "bc", "d,e"}));
}

TEST(Text, a_text_counts_as_a_number_only_if_the_whole_text_is_one_finite_number) {
  EXPECT_EQ(parse_number("1e-5"), 1e-5);
  EXPECT_EQ(parse_number("-2.5"), -2.5);
  EXPECT_EQ(parse_unsigned("18446744073709551615"), 18446744073709551615u);
  for (const char* text : {"", " 1", "1 ", "1x", "nan", "inf", "-inf", "1e999", "x1"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  for (const char* text : {"", "-1", "1.0", "1e3", " 1", "1 ", "18446744073709551616"})
    EXPECT_EQ(parse_unsigned(text), std::nullopt) << text;
}

/// The edit distance by its recursive definition.
std::size_t naive_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const bool are_equal = std::tolower(a[0]) == std::tolower(b[0]);
  const std::size_t replaced = naive_distance(a.substr(1), b.substr(1)) + (are_equal ? 0 : 1);
  return std::min(
      {replaced, naive_distance(a.substr(1), b) + 1, naive_distance(a, b.substr(1)) + 1});
}

TEST(Text, edit_distance_is_the_least_number_of_changed_characters_and_ignores_case) {
  Random random(1);
  const auto drawn = [&] {
    std::string text(random.below(6), ' ');
    for (char& c : text) c = "aAbBzZ"[random.below(6)];
    return text;
  };
  for (int i = 0; i < 200; ++i) {
    const std::string a = drawn(), b = drawn();
    EXPECT_EQ(edit_distance(a, b), naive_distance(a, b)) << a << " " << b;
  }
  EXPECT_EQ(edit_distance("@[", "`{"), 2u) << "the neighbours of A and Z are no letters";
}

TEST(Text,
     the_nearest_name_may_differ_in_2_characters_or_in_half_of_the_characters_of_a_longer_text) {
  const std::string_view names[] = {"greedy", "refine", "reline", "metis_partition"};
  EXPECT_EQ(nearest_name("greedy", names), "greedy");
  EXPECT_EQ(nearest_name("rexine", names), "refine") << "the first of two at the same distance";
  EXPECT_EQ(nearest_name("relime", names), "reline");
  EXPECT_EQ(nearest_name("gre", names), "") << "3 characters of 3 are missing";
  EXPECT_EQ(nearest_name("gree", names), "greedy") << "2 characters of 4 are missing";
  EXPECT_EQ(nearest_name("greXYZ", names), "greedy") << "3 characters of 6 differ";
  EXPECT_EQ(nearest_name("grWXYZ", names), "") << "4 characters of 6 differ";
  EXPECT_EQ(nearest_name("x", std::span<const std::string_view>()), "");
  const std::string_view ab[] = {"ab"};
  EXPECT_EQ(nearest_name("", ab), "ab");
}

TEST(Text, the_error_for_an_unknown_name_lists_the_known_names_and_suggests_the_nearest) {
  const std::string_view names[] = {"red", "green"};
  EXPECT_EQ(unknown_name("colour", "gren", names),
            "unknown colour \"gren\"; did you mean \"green\"? known: red, green");
  EXPECT_EQ(unknown_name("colour", "ultraviolet", names),
            "unknown colour \"ultraviolet\"; known: red, green");
}

}  // namespace
}  // namespace poise
