// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/pictures.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <regex>
#include <tuple>

#include "apps/report/html.h"
#include "apps/report/page_script.h"

#include "poise/machine/text.h"
#include "poise/strategies/strategy.h"

namespace poise::apps {
namespace {

std::size_t count_of(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

/// Finds all matches of a regular expression in the text. Returns the number that the first group
/// of the expression captured in each match.
std::vector<double> numbers_in(const std::string& text, const std::string& pattern) {
  std::vector<double> numbers;
  const std::regex regex(pattern);
  for (auto i = std::sregex_iterator(text.begin(), text.end(), regex); i != std::sregex_iterator();
       ++i)
    numbers.push_back(std::stod((*i)[1]));
  return numbers;
}

TEST(Html, escapes_markup) {
  EXPECT_EQ(escaped("<b a=\"1\">'&'"), "&lt;b a=&quot;1&quot;&gt;&#39;&amp;&#39;");
}

TEST(Html, axis_ticks_are_round_numbers_from_zero_to_at_most_the_largest_value) {
  EXPECT_EQ(axis_ticks(10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(axis_ticks(7.3, 5), (std::vector<double>{0, 2, 4, 6}));
  EXPECT_EQ(axis_ticks(0.031, 4).size(), 4u);
  EXPECT_EQ(axis_ticks(0, 5), std::vector<double>{0});
}

TEST(Pictures, each_place_has_a_bar_proportional_to_its_time) {
  const Machine machine = flat_machine(2);
  const std::string picture = load_picture(machine, {{1, 2}, {0, 1}}, 2, 3, "loads");
  const auto heights = numbers_in(picture, "height=\"([0-9.]+)\" class=\"work\"");
  ASSERT_EQ(heights.size(), 2u);
  EXPECT_NEAR(heights[1], 2 * heights[0], 0.01);
  EXPECT_EQ(count_of(picture, "class=\"comm\""), 1u);
  EXPECT_EQ(count_of(picture, "class=\"bound\""), 1u);
}

TEST(Pictures, with_more_places_than_bars_each_bar_shows_several_places_and_marks_the_busiest) {
  const Machine machine = flat_machine(1000);
  const PlaceTimes times{std::vector<double>(1000, 1), std::vector<double>(1000, 0)};
  const std::string picture = load_picture(machine, times, 1, 1, "loads");
  EXPECT_EQ(count_of(picture, "class=\"work\""), 200u);
  EXPECT_EQ(count_of(picture, "class=\"peak\""), 200u);
  EXPECT_EQ(count_of(picture, "place \\(bar: the mean of 5; line: the busiest\\)"), 1u);
}

TEST(Pictures, the_unit_of_the_time_axis_does_not_overlap_the_highest_number) {
  const Machine machine = flat_machine(2);
  const std::string picture = load_picture(machine, {{20, 10}, {0, 0}}, 2, 20 / 1.05, "loads");
  const auto number_y = numbers_in(picture, "y=\"([0-9.]+)\" class=\"end faint\">20<");
  const auto unit_y = numbers_in(picture, "y=\"([0-9.]+)\" class=\"end faint\">s<");
  ASSERT_EQ(number_y.size() + unit_y.size(), 2u);
  EXPECT_GE(number_y[0] - unit_y[0], 11) << "the height of a line";
}

TEST(Pictures, each_place_has_a_bar_proportional_to_the_number_of_messages_that_it_receives) {
  const std::string picture = received_picture({0, 3, 6}, 6, "received");
  EXPECT_EQ(count_of(picture, "class=\"comm\""), 3u);
  EXPECT_NE(picture.find("place 2: 6 messages"), std::string::npos);
  const auto heights = numbers_in(picture, "height=\"([0-9.]+)\" class=\"comm\"");
  EXPECT_NEAR(heights[2], 2 * heights[1], 0.01);
  const std::string many = received_picture(std::vector<std::uint64_t>(1000, 1), 1, "received");
  EXPECT_EQ(count_of(many, "class=\"peak\""), 200u);
}

TEST(Pictures, an_idle_machine_is_drawn_without_dividing_by_zero) {
  const Machine machine = flat_machine(2);
  const std::string picture = load_picture(machine, {{0, 0}, {0, 0}}, 0, 0, "loads");
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(picture.find("inf"), std::string::npos);
}

TEST(Pictures, draws_the_first_boxes_of_a_huge_machine_and_states_how_many_are_left_out) {
  const std::string picture = machine_picture(machine_from_text("node:1000 numa:4 core:8"));
  EXPECT_LT(picture.size(), 50000u);
  EXPECT_NE(picture.find("and 997 more of level node"), std::string::npos);
}

TEST(Pictures, the_rows_of_boxes_of_a_machine_are_no_wider_than_half_of_a_page) {
  for (const char* const text : {"node:4 numa:2 core:4", "numa:8 core:6", "core:64"}) {
    const std::string picture = machine_picture(machine_from_text(text));
    EXPECT_LE(numbers_in(picture, "viewBox=\"0 0 ([0-9.]+) ").at(0), 562) << text;
  }
}

/// Three strategies, of which "far" moves more tasks than "near" and is slower.
Comparison three_rows() {
  Comparison comparison;
  comparison.machine = flat_machine(2);
  comparison.has_sizes = true;
  comparison.keep.iteration_s = 10;
  comparison.iteration_bound_s = 5;
  for (const auto& [name, iteration_s, bytes] :
       {std::tuple{"keep", 10., 0u}, {"near", 6., 10u}, {"far", 7., 20u}}) {
    Comparison::Row& row = comparison.rows.emplace_back();
    row.strategy = name;
    row.metrics.iteration_s = iteration_s;
    row.metrics.migrated_bytes = bytes;
    row.decision_s = 1e-5;
  }
  comparison.best = 1;
  return comparison;
}

TEST(TradeOff, labels_only_the_strategies_that_are_Pareto_optimal) {
  const std::string picture = trade_off_picture(three_rows());
  EXPECT_EQ(count_of(picture, "<circle"), 3u);
  EXPECT_EQ(count_of(picture, ">near</text>"), 1u);
  EXPECT_EQ(count_of(picture, ">keep</text>"), 1u);
  EXPECT_EQ(count_of(picture, ">far</text>"), 0u);
}

TEST(TradeOff,
     labels_of_the_lowest_points_stay_above_the_axis_and_lines_connect_them_to_their_points) {
  Comparison comparison = three_rows();
  for (unsigned r = 1; r < 5; ++r) {
    Comparison::Row& row = comparison.rows.emplace_back(comparison.rows[1]);
    row.metrics.iteration_s -= .01 * r;
    row.metrics.migrated_bytes += r;
  }
  comparison.iteration_bound_s = 5.9;
  const std::string picture = trade_off_picture(comparison);
  const auto labels_y = numbers_in(picture, "y=\"([0-9.]+)\" class=\"(start|end) halo\"");
  ASSERT_EQ(labels_y.size(), 6u);
  EXPECT_LT(*std::max_element(labels_y.begin(), labels_y.end()), 14 + 250) << "below the axis";
  EXPECT_GE(count_of(picture, "class=\"leader\""), 3u);
}

TEST(TradeOff, the_axis_of_times_has_labels_even_if_the_times_are_nearly_or_exactly_equal) {
  for (const double spread : {1.0, 1e-3, 1e-15, 0.0}) {
    Comparison comparison = three_rows();
    comparison.iteration_bound_s = comparison.keep.iteration_s = 2;
    for (std::size_t r = 0; r < 3; ++r)
      comparison.rows[r].metrics.iteration_s = 2 - spread * static_cast<double>(r) / 4;
    const std::size_t labels = count_of(trade_off_picture(comparison), " s</text>");
    EXPECT_TRUE(3 <= labels && labels <= 8) << labels << " labels with the spread " << spread;
  }
}

TEST(TradeOff, a_strategy_much_slower_than_the_current_placement_is_drawn_inside_the_picture) {
  Comparison comparison = three_rows();
  comparison.rows[2].metrics.iteration_s = 1e6;
  const std::string picture = trade_off_picture(comparison);
  EXPECT_EQ(count_of(picture, "cy=\"-"), 0u);
  EXPECT_EQ(count_of(picture, "<circle"), 3u);
}

/// A colour: its hue in degrees and its lightness in per cent.
std::pair<int, int> hue_and_lightness(std::string_view strategy) {
  int hue = 0, saturation = 0, lightness = 0;
  EXPECT_EQ(
      std::sscanf(colour_of(strategy).c_str(), "hsl(%d %d%% %d%%)", &hue, &saturation, &lightness),
      3);
  return {hue, lightness};
}

TEST(Colours, strategies_differ_clearly_in_hue_or_in_lightness) {
  for (const auto& one : strategies())
    for (const auto& other : strategies()) {
      if (one.name == other.name || one.name == "keep" || other.name == "keep") continue;
      const auto [hue, lightness] = hue_and_lightness(one.name);
      const auto [other_hue, other_lightness] = hue_and_lightness(other.name);
      const int turn = std::abs(hue - other_hue);
      EXPECT_TRUE(std::min(turn, 360 - turn) >= 20 || std::abs(lightness - other_lightness) >= 16)
          << one.name << " and " << other.name;
    }
}

TEST(Colours, the_colour_of_a_strategy_does_not_depend_on_its_knobs) {
  EXPECT_EQ(colour_of("nuco:alpha=1"), colour_of("nuco"));
  EXPECT_NE(colour_of("nuco"), colour_of("greedy"));
}

TEST(Download, markup_inside_the_data_cannot_end_the_script_element) {
  EXPECT_EQ(download_html("\"</script>\"").find("</script>\""), std::string::npos);
}

TEST(Traffic, the_traffic_matrix_lists_the_node_of_each_group_of_places) {
  const Grouping grouping = grouping_of(machine_from_text("node:2 core:3"), 64);
  EXPECT_EQ(grouping.node_of_group, (std::vector<NodeId>{0, 0, 0, 1, 1, 1}));
}

TEST(Traffic, sums_messages_between_groups_of_places_and_ignores_messages_inside_a_place) {
  const Machine machine = machine_from_text("node:2 core:2");
  Workload workload;
  workload.tasks.resize(3);
  workload.messages = {{0, 1, 1, 10}, {1, 2, 2, 20}, {2, 0, 1, 5}};
  const Placement placement(std::vector<PlaceId>{0, 0, 3});
  const Traffic by_node = traffic_of(machine, workload, placement, 2);
  EXPECT_EQ(by_node.grouping.name, "node");
  EXPECT_EQ(by_node.amount, (std::vector<double>{0, 20, 5, 0}));
  EXPECT_EQ(by_node.largest, 20);
  EXPECT_EQ(traffic_of(machine, workload, placement, 64).grouping.num_groups, 4u);
}

TEST(Traffic, on_a_machine_without_nodes_each_row_of_the_matrix_represents_consecutive_places) {
  const Grouping grouping = grouping_of(flat_machine(1000), 64);
  EXPECT_LE(grouping.num_groups, 64u);
  EXPECT_EQ(grouping.group_of_place.back(), grouping.num_groups - 1);
}

TEST(Traffic, counts_migrations_separately_within_domains_and_between_domains_and_between_nodes) {
  const Machine machine = machine_from_text("node:2 numa:2 core:2");
  Workload workload;
  workload.tasks.assign(4, {.load_s = 1, .bytes = 8});
  const Placement before(std::vector<PlaceId>{0, 0, 0, 0}), after(std::vector<PlaceId>{0, 1, 2, 4});
  const Moves moves = moves_of(machine, workload, before, after);
  EXPECT_EQ(moves.inside_domain.tasks, 1u);
  EXPECT_EQ(moves.inside_node.tasks, 1u);
  EXPECT_EQ(moves.between_nodes.bytes, 8u);
}

}  // namespace
}  // namespace poise::apps
