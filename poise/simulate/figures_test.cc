// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/figures.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "poise/base/error.h"

namespace poise {
namespace {

/// Returns the value of `column` in the first row whose first columns equal `key`.
double value(const FigureData& data, std::vector<double> key, std::string_view column) {
  const auto c = std::find(data.columns.begin(), data.columns.end(), column);
  EXPECT_NE(c, data.columns.end()) << column;
  for (const auto& row : data.rows)
    if (std::equal(key.begin(), key.end(), row.begin()))
      return row[static_cast<std::size_t>(c - data.columns.begin())];
  ADD_FAILURE() << "no such row";
  return 0;
}

TEST(Figures, every_row_has_a_value_in_every_column) {
  for (const Figure& figure : figures()) {
    if (figure.name == "10") continue;  // figure 10 has a million rows
    const FigureData data = figure_named(figure.name).compute();
    EXPECT_FALSE(data.rows.empty());
    for (const auto& row : data.rows) ASSERT_EQ(row.size(), data.columns.size()) << figure.name;
  }
  EXPECT_THROW(figure_named("12"), Error);
}

TEST(Figures, theory_and_simulation_agree_for_nine_and_twelve_threads_on_eight_places) {
  const FigureData data = figure_named("6").compute();
  EXPECT_NEAR(value(data, {12}, "ideal"), 4.0 / 3, 1e-12);
  EXPECT_NEAR(value(data, {12}, "reactive"), 4.0 / 3, 1e-12);
  EXPECT_NEAR(value(data, {9}, "ideal"), 16.0 / 9, 1e-12);
  EXPECT_NEAR(value(data, {9}, "simulated"), 16.0 / 9, 1e-3);
  EXPECT_NEAR(value(data, {9}, "simulated_two_domains"), 2 / 1.25, 1e-3);
  EXPECT_NEAR(value(data, {9}, "reactive"), 4.0 / 3, 1e-12);
}

TEST(Figures, balancing_once_every_two_phases_gives_no_speed_up_if_there_is_no_jitter) {
  const FigureData data = figure_named("11").compute();
  for (const auto& row : data.rows) {
    if (std::abs(row[0] - 4) > 1e-9) continue;
    EXPECT_NEAR(row[2], 1, 1e-6);
    EXPECT_GT(row[3], 1.01);
  }
}

TEST(Figures,
     reactive_balancing_helps_in_phases_of_any_length_but_periodic_balancing_only_in_long_ones) {
  const FigureData data = figure_named("when").compute();
  for (const double phase_ms : {1, 2, 5, 10, 20, 50, 100})
    EXPECT_NEAR(value(data, {8, 7, phase_ms}, "reactive"), 2 / 1.5, 1e-9);
  EXPECT_LT(value(data, {8, 7, 1}, "proactive"), 1.1);
  EXPECT_GT(value(data, {8, 7, 100}, "proactive"), 1.6);
  EXPECT_GT(value(data, {8, 7, 10}, "hybrid"), value(data, {8, 7, 10}, "proactive"));
}

TEST(Figures, table_1_agrees_with_the_juggle_paper_for_runs_without_balancing) {
  const FigureData data = figure_named("table1").compute();
  EXPECT_DOUBLE_EQ(value(data, {8, 7}, "static_s"), 136);
  EXPECT_DOUBLE_EQ(value(data, {16, 7}, "static_s"), 102);
  EXPECT_DOUBLE_EQ(value(data, {32, 7}, "static_s"), 85);
  EXPECT_DOUBLE_EQ(value(data, {32, 8}, "static_s"), 68);
  EXPECT_NEAR(value(data, {8, 7}, "simulated_two_domains_s"), 68 * 4.0 / 3, 0.1);
}

}  // namespace
}  // namespace poise
