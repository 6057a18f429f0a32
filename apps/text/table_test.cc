// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/table.h"

#include <gtest/gtest.h>

namespace poise::apps {
namespace {

const Table kTable{{"name", "a", "long\nheading"},
                   {{{"µs", "1", "2"}}, {{"first", "10", "200"}}, {{"bad"}, "why not"}}};

TEST(Table, aligns_columns_by_characters_and_not_by_bytes) {
  EXPECT_EQ(render(kTable, 0),
            "              long\n"
            "name    a  heading\n"
            "µs      1        2\n"
            "first  10      200\n"
            "bad    why not\n");
}

TEST(Table, splits_a_wide_table_into_blocks_that_each_begin_with_the_column_of_names) {
  EXPECT_EQ(render(kTable, 12),
            "name    a\n"
            "µs      1\n"
            "first  10\n"
            "bad    why\n"
            "       not\n"
            "\n"
            "          long\n"
            "name   heading\n"
            "µs           2\n"
            "first      200\n"
            "bad    why\n"
            "       not\n");
}

TEST(Table, wraps_remarks_and_sets_the_best_row_in_bold) {
  const Table table{{"name", "a"}, {{{"x", "1"}, "", true}, {{"y"}, "four words of remark"}}};
  EXPECT_EQ(render(table, 16, true),
            "name  a\n"
            "\x1b[1mx     1\x1b[0m\n"
            "y     four words\n"
            "      of remark\n");
}

TEST(Table, a_column_has_one_unit_and_shows_missing_numbers_as_unknown) {
  Table table{{"name"}, {{{"x"}}, {{"bad"}, "why"}, {{"y"}}}};
  add_figures(table, {"time", {0.002, std::nullopt}, time_unit});
  EXPECT_EQ(table.headings.back(), "time\nms");
  EXPECT_EQ(table.rows[0].cells.back(), "2");
  EXPECT_EQ(table.rows[2].cells.back(), "unknown");
}

TEST(Table, a_negative_number_that_is_rounded_to_zero_has_no_sign) {
  Table table{{"name"}, {{{"x"}}, {{"y"}}, {{"z"}}}};
  add_figures(table, {"saved", {0.488, -0.0004, -0.3}, time_unit});
  EXPECT_EQ(table.rows[0].cells.back(), "488");
  EXPECT_EQ(table.rows[1].cells.back(), "0");
  EXPECT_EQ(table.rows[2].cells.back(), "-300");
}

TEST(Table, omits_columns_that_contain_only_zeros) {
  Table table{{"name"}, {{{"x"}}, {{"y"}}}};
  add_figures(table, {"none", {0.0, 0.0}});
  EXPECT_EQ(table.headings.size(), 1u);
}

TEST(Table, markdown_has_one_line_per_row_and_the_same_number_of_cells_in_each_line) {
  EXPECT_EQ(markdown(kTable),
            "| name | a | long heading |\n"
            "|---|---:|---:|\n"
            "| µs | 1 | 2 |\n"
            "| first | 10 | 200 |\n"
            "| bad | why not |  |\n");
}

TEST(Table, a_vertical_bar_in_a_cell_is_escaped_in_markdown) {
  EXPECT_EQ(markdown({{"name", "a"}, {{{"x|y", "1"}}}}),
            "| name | a |\n"
            "|---|---:|\n"
            "| x\\|y | 1 |\n");
}

}  // namespace
}  // namespace poise::apps
