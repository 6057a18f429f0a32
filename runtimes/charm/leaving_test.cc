// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/leaving.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <limits>

namespace poise::charm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Objects on PE 0 with the given loads, followed by one object on PE 1.
Statistics group(const std::vector<double>& loads_s) {
  Statistics statistics;
  statistics.pes.resize(2);
  for (const double load_s : loads_s)
    statistics.objects.push_back({{statistics.objects.size(), 1}, load_s, 0, 0, true});
  statistics.objects.push_back({{statistics.objects.size(), 1}, 0, 0, 1, false});
  return statistics;
}

void send(Statistics& statistics, std::size_t from, std::size_t to, std::uint32_t messages) {
  MessageRow row;
  row.from = statistics.objects[from].name;
  row.to = statistics.objects[to].name;
  row.messages = messages;
  statistics.messages.push_back(row);
}

TEST(Leaving, without_messages_the_heaviest_objects_within_the_load_limit_leave_the_group) {
  EXPECT_THAT(leaving(group({1, 5, 2, 4, 3}), 7.5), ElementsAre(1, 2));
}

TEST(Leaving, the_objects_that_leave_the_group_have_at_most_the_requested_total_load) {
  EXPECT_THAT(leaving(group({2, 2, 2}), 1), IsEmpty());
  EXPECT_THAT(leaving(group({2, 2, 2}), 0), IsEmpty());
  EXPECT_THAT(leaving(group({2, 2, 2}), 100), UnorderedElementsAre(0, 1, 2));
}

TEST(Leaving, objects_that_communicate_with_the_destination_group_leave_first) {
  auto statistics = group({1, 1, 1, 1});
  send(statistics, 2, 4, 3);
  send(statistics, 4, 1, 2);
  EXPECT_THAT(leaving(statistics, 2), ElementsAre(2, 1));
}

TEST(Leaving, a_pair_of_objects_that_communicate_leaves_the_group_as_a_whole) {
  auto statistics = group({1, 1, 1, 1});
  send(statistics, 0, 1, 3);
  send(statistics, 3, 2, 1);
  EXPECT_THAT(leaving(statistics, 2), UnorderedElementsAre(2, 3));
}

TEST(Leaving, half_of_a_ring_of_objects_leaves_the_group_as_one_contiguous_part_of_the_ring) {
  auto statistics = group(std::vector<double>(12, 1));
  for (std::size_t i = 0; i < 12; ++i) send(statistics, i, (i + 1) % 12, 1);
  EXPECT_THAT(leaving(statistics, 6), UnorderedElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Leaving, the_object_with_the_fewest_messages_per_second_of_load_leaves_the_group_first) {
  auto statistics = group({1, 10, 1, 1});
  send(statistics, 0, 2, 1);
  send(statistics, 1, 2, 5);  // 0.5 messages per second of load; objects 0 and 3 send 1 and 2
  send(statistics, 3, 2, 2);
  EXPECT_THAT(leaving(statistics, 10), ElementsAre(1));
}

TEST(Leaving, objects_that_are_pinned_or_have_no_load_stay_in_the_group) {
  auto statistics = group({0, 2, 3});
  statistics.objects[2].movable = false;
  EXPECT_THAT(leaving(statistics, 10), ElementsAre(1));
}

TEST(Leaving, which_objects_leave_does_not_depend_on_the_order_in_which_objects_are_listed) {
  auto statistics = group({1, 2, 2, 1});
  send(statistics, 0, 3, 1);
  auto turned = statistics;
  std::reverse(turned.objects.begin(), turned.objects.end());
  const auto rows = leaving(statistics, 4), other_rows = leaving(turned, 4);
  ASSERT_EQ(rows.size(), other_rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(statistics.objects[rows[i]].name.id, turned.objects[other_rows[i]].name.id);
}

TEST(Leaving, no_object_leaves_if_the_statistics_are_invalid) {
  auto statistics = group({1, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_THAT(leaving(statistics, 1), IsEmpty());
  statistics = group({1, 1});
  statistics.objects[1].name = statistics.objects[0].name;
  EXPECT_THAT(leaving(statistics, 1), IsEmpty());
}

}  // namespace
}  // namespace poise::charm
