// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/online/juggle.h"
#include "poise/simulate/juggle_ideal.h"
#include "poise/simulate/theory.h"
#include "poise/simulate/two_jobs.h"

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
  POISE_SKIP_IF_SLOW();
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

TEST(Figures, reactive_balancing_helps_in_phases_of_any_length_but_periodic_only_in_long_phases) {
  const FigureData data = figure_named("when").compute();
  for (const double phase_ms : {1, 2, 5, 10, 20, 50, 100})
    EXPECT_NEAR(value(data, {8, 7, phase_ms}, "reactive"), 2 / 1.5, 1e-9);
  EXPECT_LT(value(data, {8, 7, 1}, "proactive"), 1.1);
  EXPECT_GT(value(data, {8, 7, 100}, "proactive"), 1.6);
  EXPECT_GT(value(data, {8, 7, 10}, "hybrid"), value(data, {8, 7, 10}, "proactive"));
}

/// The values of the first `columns` columns in all rows. Omits a row if these values equal those
/// of the previous row.
std::vector<std::vector<double>> keys(const FigureData& data, std::size_t columns) {
  std::vector<std::vector<double>> keys;
  for (const auto& row : data.rows) {
    keys.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns));
    if (keys.size() > 1 && keys.back() == keys[keys.size() - 2]) keys.pop_back();
  }
  return keys;
}

/// The values of a column in the first `count` rows.
std::vector<double> first_values(const FigureData& data, std::size_t column, std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(data.rows.at(i).at(column));
  return values;
}

double speed_up(const JuggleRun& run) {
  return static_s(run.program) / simulate_juggle(run).completion_s;
}

using Keys = std::vector<std::vector<double>>;

TEST(Figures, figures_6_and_7_have_as_many_threads_and_places_as_in_the_paper) {
  const FigureData six = figure_named("6").compute(), seven = figure_named("7").compute();
  EXPECT_EQ(keys(six, 1), (Keys{{8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}, {16}}));
  for (const auto& row : six.rows) {
    const double threads = row[0], most = threads > 8 ? 2 : 1;
    EXPECT_NEAR(row[1], most * 8 / threads, 1e-12);
    EXPECT_NEAR(row[2], most * 8 / threads, 1e-2);
    EXPECT_NEAR(row[3], most * 4 / std::ceil(threads / 2), 1e-2);
    const JuggleRun run{.program = {static_cast<std::uint64_t>(threads), 8, 30}, .period_s = 0.1};
    EXPECT_EQ(row[2], speed_up(run));
    EXPECT_EQ(row[4], static_s(run.program) / reactive_s(run.program));
  }
  EXPECT_EQ(keys(seven, 1), (Keys{{2}, {4}, {8}, {16}, {32}, {64}}));
  ASSERT_EQ(seven.rows.size(), 6u * 16);
  for (std::size_t i = 0; i < seven.rows.size(); ++i) {
    const auto& row = seven.rows[i];
    EXPECT_EQ(row[1], 1.0 + static_cast<double>(i % 16));
    EXPECT_EQ(row[2], row[0] * row[1] + 1);
    EXPECT_NEAR(row[3], row[0] * (row[1] + 1) / row[2], 1e-12);
  }
}

TEST(Figures, figures_8_and_9_show_bounds_and_simulated_times_for_increasing_periods) {
  const FigureData data[] = {figure_named("8").compute(), figure_named("9").compute()};
  EXPECT_EQ(keys(data[0], 2), (Keys{{8, 7}, {8, 6}, {8, 5}, {9, 8}, {16, 12}}));
  EXPECT_EQ(keys(data[1], 2), (Keys{{10, 4}, {16, 7}, {25, 8}, {33, 8}}));
  const std::size_t periods[] = {110, 260};
  for (std::size_t figure = 0; figure < 2; ++figure) {
    ASSERT_EQ(data[figure].rows.size(), periods[figure] * (figure == 0 ? 5 : 4));
    for (std::size_t i = 0; i < data[figure].rows.size(); ++i) {
      const auto& row = data[figure].rows[i];
      EXPECT_NEAR(row[2], 0.02 * static_cast<double>(i % periods[figure] + 1), 1e-12);
      if (i % 17) continue;
      const SpmdProgram program{static_cast<std::uint64_t>(row[0]),
                                static_cast<std::uint64_t>(row[1]), 1};
      EXPECT_EQ(row[3], static_s(program) / proactive_bound_s(program, row[2]));
      EXPECT_EQ(row[4], static_s(program) / proactive_tight_bound_s(program, row[2]));
      EXPECT_EQ(row[5], speed_up({.program = program, .period_s = row[2]}));
    }
  }
}

TEST(Figures, figure_11_compares_periods_of_a_tenth_to_ten_phases) {
  const FigureData data = figure_named("11").compute();
  ASSERT_EQ(data.rows.size(), 199u);
  for (std::size_t i = 0; i < data.rows.size(); ++i)
    EXPECT_NEAR(data.rows[i][0], 0.1 + 0.05 * static_cast<double>(i), 1e-12);
  for (const std::size_t i : {8u, 41u}) {
    const auto& row = data.rows[i];
    JuggleRun run{.program = {8, 7, 1, 600}, .period_s = row[0], .seed = 1};
    EXPECT_EQ(row[1], 1200 / proactive_approximation_s(run.program, row[0]));
    EXPECT_EQ(row[2], speed_up(run));
    run.jitter = 0.1;
    EXPECT_EQ(row[3], speed_up(run));
  }
}

TEST(Figures, figure_16_counts_migrations_per_second_and_per_period) {
  const FigureData data = figure_named("16").compute();
  EXPECT_EQ(keys(data, 2), (Keys{{8, 7}, {8, 6}, {8, 5}, {16, 7}, {24, 7}, {32, 7}}));
  EXPECT_EQ(first_values(data, 2, 13), (std::vector<double>{0.001, 0.002, 0.003, 0.005, 0.01, 0.02,
                                                            0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0}));
  for (const std::size_t i : {4u, 20u, 50u}) {
    const auto& row = data.rows[i];
    const JuggleOutcome outcome = simulate_juggle(
        {.program = {static_cast<std::uint64_t>(row[0]), static_cast<std::uint64_t>(row[1]), 30},
         .redistribution = Redistribution::swaps,
         .period_s = 30 * row[2]});
    const auto migrations = static_cast<double>(outcome.migrations);
    EXPECT_DOUBLE_EQ(row[3], migrations / outcome.completion_s);
    EXPECT_DOUBLE_EQ(row[4], migrations / static_cast<double>(outcome.balancing_points));
  }
}

TEST(Figures,
     figure_17_shows_the_speed_up_with_time_slices_and_with_balancing_points_that_cost_100_us) {
  POISE_SKIP_IF_SLOW();
  const FigureData data = figure_named("17").compute();
  const double period_ms[] = {0.5, 1, 2, 5, 10, 20, 50, 100, 200};
  ASSERT_EQ(data.rows.size(), std::size(period_ms));
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const auto& row = data.rows[i];
    EXPECT_DOUBLE_EQ(row[0], period_ms[i]);
    EXPECT_DOUBLE_EQ(row[1], 1.75);
    EXPECT_NEAR(row[2], 1.75 * (1 - 0.1 / period_ms[i]), 1e-9);
    EXPECT_NEAR(row[3], row[2], 0.01);
  }
  JuggleRun run{.program = {8, 7, 30},
                .redistribution = Redistribution::swaps,
                .period_s = 0.1,
                .point_cost_s = 100e-6};
  EXPECT_EQ(data.rows[7][3], speed_up(run));
  run.slice_s = 0.01;
  EXPECT_EQ(data.rows[7][4], speed_up(run));
}

TEST(Figures, compares_static_and_balanced_and_ideal_times_of_threads_with_unequal_work) {
  const FigureData data = figure_named("unequal").compute();
  EXPECT_EQ(keys(data, 2), (Keys{{8, 7}, {16, 12}, {16, 7}}));
  EXPECT_EQ(first_values(data, 2, 6), (std::vector<double>{0, 0.1, 0.2, 0.3, 0.5, 0.8}));
  for (const std::size_t i : {0u, 6u, 12u}) {  // no spread
    const auto& row = data.rows[i];
    EXPECT_DOUBLE_EQ(row[3], std::ceil(row[0] / row[1]));
    EXPECT_DOUBLE_EQ(row[5], row[0] / row[1]);
  }
  for (const std::size_t i : {4u, 10u, 17u}) {
    const auto& row = data.rows[i];
    Random random(1);
    std::vector<double> work;
    for (double t = 0; t < row[0]; ++t) work.push_back(random.uniform(1 - row[2], 1 + row[2]));
    JuggleRun run{.program = {work.size(), static_cast<std::uint64_t>(row[1]), 1},
                  .period_s = 0.01,
                  .work_of_thread = work};
    EXPECT_EQ(row[4], simulate_juggle(run).completion_s);
    EXPECT_EQ(row[5], unequal_ideal_s(run.program, work));
    run.balancing = Balancing::none;
    EXPECT_EQ(row[3], simulate_juggle(run).completion_s);
  }
}

TEST(Figures, three_rules_for_when_threads_move_are_compared_for_phases_of_1_to_100_ms) {
  const FigureData data = figure_named("when").compute();
  EXPECT_EQ(keys(data, 2), (Keys{{3, 2}, {8, 7}, {16, 12}}));
  EXPECT_EQ(first_values(data, 2, 7), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  const auto& row = data.rows.at(5);
  JuggleRun run{.program = {3, 2, 1e-3 * row[2], 100}, .period_s = 0.02, .jitter = 0.1, .seed = 1};
  EXPECT_EQ(row[3], speed_up(run));
  run.balancing = Balancing::reactive;
  EXPECT_EQ(row[4], speed_up(run));
  run.balancing = Balancing::hybrid;
  EXPECT_EQ(row[5], speed_up(run));
}

TEST(Figures,
     the_data_of_section_6_hold_the_limit_for_short_periods_and_simulations_of_six_periods) {
  const FigureData data = figure_named("jobs").compute();
  EXPECT_EQ(first_values(data, 0, 7), (std::vector<double>{0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5}));
  EXPECT_EQ(data.rows.size(), 7u);
  const TwoEnds limit = two_jobs_limit({13, 5, 16, 1}),
                ends = simulate_two_jobs({13, 5, 16, 1}, 0.1);
  EXPECT_EQ(data.rows[0], (std::vector<double>{0, limit.a_s, limit.b_s, limit.used}));
  EXPECT_EQ(data.rows[4], (std::vector<double>{0.1, ends.a_s, ends.b_s, ends.used}));
}

TEST(Figures, table_1_divides_the_same_work_among_8_or_16_or_32_threads) {
  const FigureData data = figure_named("table1").compute();
  EXPECT_EQ(keys(data, 2), (Keys{{8, 8}, {16, 8}, {32, 8}, {8, 7}, {16, 7}, {32, 7}}));
  for (const auto& row : data.rows) {
    const double threads = row[0], places = row[1], phase_s = 544 / threads;
    EXPECT_NEAR(row[2], phase_s * std::ceil(threads / places), 1e-9);
    EXPECT_NEAR(row[3], 544 / places, 1e-9);
    EXPECT_NEAR(row[4], 544 / places, 0.2);
    const auto domains = equal_domains(static_cast<std::uint64_t>(places), 2);
    EXPECT_NEAR(row[5], phase_s * threads_per_place(static_cast<std::uint32_t>(threads), domains),
                0.2);
  }
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
