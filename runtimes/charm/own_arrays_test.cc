// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/own_arrays.h"

#include <gmock/gmock.h>
#include <set>

#include "poise/distributed/rank_directory.h"

namespace poise::charm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// PE 3 with three objects, which are not in the order of their names. One is pinned.
Statistics three_objects() {
  Statistics own;
  own.pes.resize(1);
  own.pes[0].number = 3;
  own.pes[0].background_s = 0.25;
  own.objects = {{{5, 8}, 1, 0, 0, true}, {{9, -7}, 2, 10, 0, false}, {{1, 8}, 3, 0, 0, true}};
  return own;
}

MessageRow message(ObjectName from, ObjectName to, std::uint32_t messages, std::uint32_t bytes,
                   std::int32_t sent_to_pe = -1) {
  return {from, to, -1, 0, 0, messages, bytes, sent_to_pe};
}

std::uint64_t id(ObjectName name) { return task_id_of(name); }

TEST(OwnArrays, objects_become_tasks_in_order_of_name_with_loads_converted_to_a_pe_of_speed_1) {
  const OwnArrays arrays = own_arrays(three_objects(), 0.5, Messages::convert);
  EXPECT_THAT(arrays.row_of_task, ElementsAre(1, 2, 0));
  EXPECT_THAT(arrays.ids, ElementsAre(id({9, -7}), id({1, 8}), id({5, 8})));
  EXPECT_THAT(arrays.load_s, ElementsAre(1, 1.5, 0.5));
  EXPECT_THAT(arrays.bytes, ElementsAre(10, 0, 0));
  EXPECT_THAT(arrays.pinned, ElementsAre(1, 0, 0));
  EXPECT_THAT(arrays.first, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(arrays.background_s, 0.25);
  check(arrays.view(), 4);
}

TEST(OwnArrays,
     messages_of_the_same_sender_and_receiver_are_summed_and_those_of_unknown_senders_dropped) {
  Statistics own = three_objects();
  own.messages = {message({5, 8}, {1, 8}, 2, 100), message({1, 8}, {77, 8}, 1, 10, 2),
                  message({5, 8}, {1, 8}, 3, 50, 3), message({6, 8}, {1, 8}, 9, 900)};
  const OwnArrays arrays = own_arrays(own, 1, Messages::convert);
  EXPECT_THAT(arrays.first, ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(arrays.to, ElementsAre(id({77, 8}), id({1, 8})));
  EXPECT_THAT(arrays.counts, ElementsAre(1, 5));
  EXPECT_THAT(arrays.message_bytes, ElementsAre(10, 150));
  EXPECT_THAT(arrays.sent_to_pe, ElementsAre(2, 3));
  EXPECT_EQ(arrays.receivers[0].id, 77u);
  EXPECT_THAT(own_arrays(own, 1, Messages::leave_out).to, IsEmpty());
}

TEST(OwnArrays, every_member_of_a_multicast_receives_the_whole_message) {
  Statistics own = three_objects();
  own.receivers = {{5, 8}, {77, 8}, {1, 8}};
  own.messages = {{{5, 8}, {}, -1, 1, 2, 4, 80, -1}};
  const OwnArrays arrays = own_arrays(own, 1, Messages::convert);
  EXPECT_THAT(arrays.to, testing::UnorderedElementsAre(id({77, 8}), id({1, 8})));
  EXPECT_THAT(arrays.counts, ElementsAre(4, 4));
  EXPECT_THAT(arrays.message_bytes, ElementsAre(80, 80));
}

TEST(OwnArrays, a_pe_that_sends_messages_itself_becomes_a_pinned_task) {
  Statistics own = three_objects();
  own.messages = {{{}, {1, 8}, 0, 0, 0, 6, 60, -1}};
  const OwnArrays arrays = own_arrays(own, 1, Messages::convert);
  EXPECT_EQ(arrays.row_of_task.size(), 3u);
  ASSERT_EQ(arrays.ids.size(), 4u);
  EXPECT_EQ(arrays.ids[3], task_id_of_pe(3));
  EXPECT_EQ(arrays.load_s[3], 0);
  EXPECT_EQ(arrays.pinned[3], 1);
  EXPECT_THAT(arrays.first, ElementsAre(0, 0, 0, 0, 1));
  check(arrays.view(), 4);
}

TEST(OwnArrays, messages_to_objects_that_no_rank_has_are_dropped) {
  Statistics own = three_objects();
  for (const std::uint64_t to : {10, 11, 12})
    own.messages.push_back(message({1, 8}, {to, 8}, 1, to));
  own.messages.push_back(message({5, 8}, {1, 8}, 1, 5));
  OwnArrays arrays = own_arrays(own, 1, Messages::convert);
  std::vector<std::uint32_t> ranks;
  for (const ObjectName& to : arrays.receivers) ranks.push_back(to.id == 11 ? kNoRank : to.id % 3);
  set_ranks(arrays, ranks);
  EXPECT_THAT(arrays.first, ElementsAre(0, 0, 2, 3));
  EXPECT_EQ(std::set(arrays.to.begin(), arrays.to.end()),
            (std::set{id({10, 8}), id({12, 8}), id({1, 8})}));
  for (std::size_t i = 0; i < arrays.to.size(); ++i) {
    EXPECT_EQ(arrays.to[i], task_id_of(arrays.receivers[i]));
    EXPECT_EQ(arrays.to_rank[i], arrays.receivers[i].id % 3);
  }
  check(arrays.view(), 3);
}

TEST(OwnArrays, task_ids_of_objects_in_different_arrays_and_of_pes_differ) {
  std::set<std::uint64_t> ids;
  for (const std::int32_t array : {-7, 0, 1, 8})
    for (std::uint64_t object = 0; object < 1000; ++object) ids.insert(id({object, array}));
  for (std::int32_t pe = 0; pe < 1000; ++pe) ids.insert(task_id_of_pe(pe));
  EXPECT_EQ(ids.size(), 5000u);
}

}  // namespace
}  // namespace poise::charm
