// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/tree.h"

#include <gmock/gmock.h>
#include <stdexcept>

#include "runtimes/charm/balancer.h"

namespace poise::charm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns the statistics of a PE whose objects take 1, 2, … seconds. The second object cannot
/// migrate. Each object sends to object 0 of PE 0, and the PE sends a multicast to all of its
/// objects.
Statistics pe_with(std::uint64_t objects, std::int32_t pe) {
  Statistics statistics;
  statistics.pes.resize(1);
  statistics.pes[0].wall_s = 100 + pe;
  statistics.pes[0].background_s = 10 + pe;
  statistics.pes[0].host = static_cast<std::uint32_t>(pe / 2);
  statistics.pes[0].core_os_index = 7 + pe;
  MessageRow multicast;
  multicast.from_pe = pe;
  multicast.num_receivers = static_cast<std::uint32_t>(objects);
  for (std::uint64_t i = 0; i < objects; ++i) {
    const ObjectName name = {100 * static_cast<std::uint64_t>(pe) + i, 5};
    statistics.objects.push_back({name, static_cast<double>(i + 1), 0, 0, i != 1});
    statistics.messages.push_back({name, {0, 5}, -1, 0, 0, 1, 8});
    statistics.receivers.push_back(name);
  }
  statistics.messages.push_back(multicast);
  return statistics;
}

Subtree of_pes(const std::vector<std::int32_t>& pes, bool with_messages) {
  std::vector<char> bytes;
  for (const std::int32_t pe : pes) {
    const auto more = to_bytes(pe, pe_with(static_cast<std::uint64_t>(pe) + 2, pe), with_messages);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return subtree_of(bytes.data(), bytes.size());
}

TEST(Tree, the_statistics_of_an_object_take_8_bytes) {
  const std::size_t ten = to_bytes(0, pe_with(10, 0), false).size();
  EXPECT_EQ(to_bytes(0, pe_with(1010, 0), false).size(), ten + 8000);
  Statistics with_sizes = pe_with(10, 0);
  with_sizes.objects[3].bytes = 1;
  EXPECT_EQ(to_bytes(0, with_sizes, false).size(), ten + 80);
}

TEST(Tree, the_order_in_which_statistics_arrive_does_not_matter) {
  for (const bool with_messages : {false, true}) {
    const Subtree once = of_pes({1, 4, 6}, with_messages), again = of_pes({6, 1, 4}, with_messages);
    EXPECT_THAT(once.pe_of_row, ElementsAre(1, 4, 6));
    EXPECT_EQ(again.pe_of_row, once.pe_of_row);
    ASSERT_EQ(again.statistics.objects.size(), 3u + 6 + 8);
    for (std::size_t i = 0; i < 17; ++i)
      EXPECT_TRUE(same(again.statistics.objects[i].name, once.statistics.objects[i].name));
    EXPECT_EQ(again.number_of_object, once.number_of_object);
  }
}

TEST(Tree, measurements_of_pes_and_objects_are_unchanged_after_conversion_to_bytes) {
  const Subtree subtree = of_pes({4, 1}, false);
  const Statistics& statistics = subtree.statistics;
  ASSERT_EQ(statistics.pes.size(), 2u);
  EXPECT_EQ(statistics.pes[1].wall_s, 104);
  EXPECT_EQ(statistics.pes[1].background_s, 14);
  EXPECT_EQ(statistics.pes[1].host, 2u);
  EXPECT_EQ(statistics.pes[1].core_os_index, 11);
  ASSERT_EQ(statistics.objects.size(), 9u);
  EXPECT_FALSE(statistics.names_last);
  EXPECT_THAT(statistics.messages, IsEmpty());
  for (std::size_t i = 0; i < 9; ++i) {
    const std::size_t number = i < 3 ? i : i - 3;
    EXPECT_EQ(statistics.objects[i].pe, i < 3 ? 0 : 1);
    EXPECT_EQ(statistics.objects[i].wall_s, number + 1);
    EXPECT_EQ(statistics.objects[i].movable, number != 1);
    EXPECT_EQ(subtree.number_of_object[i], number);
    EXPECT_TRUE(same(statistics.objects[i].name, {number, i < 3 ? 1 : 4}));
  }
}

TEST(Tree, names_of_objects_are_sent_if_messages_between_objects_were_recorded) {
  const Subtree subtree = of_pes({4, 1}, true);
  const Statistics& statistics = subtree.statistics;
  EXPECT_TRUE(statistics.names_last);
  EXPECT_TRUE(same(statistics.objects[8].name, {405, 5}));
  ASSERT_EQ(statistics.messages.size(), 4u + 7);
  EXPECT_TRUE(same(statistics.messages[4].from, {400, 5}));
  EXPECT_EQ(statistics.messages[3].from_pe, 0);   // the multicast of PE 1, which has row 0
  EXPECT_EQ(statistics.messages[10].from_pe, 1);  // the multicast of PE 4, which has row 1
  EXPECT_EQ(statistics.messages[10].num_receivers, 6u);
  EXPECT_TRUE(same(statistics.receivers.at(statistics.messages[10].first_receiver), {400, 5}));
  EXPECT_EQ(statistics.receivers.size(), 9u);
}

TEST(Tree, the_sizes_of_objects_are_sent_to_the_root) {
  Statistics statistics = pe_with(3, 0);
  statistics.objects[2].bytes = 77;
  const auto bytes = to_bytes(0, statistics, true);
  const Subtree subtree = subtree_of(bytes.data(), bytes.size());
  EXPECT_EQ(subtree.statistics.objects[0].bytes, 0u);
  EXPECT_EQ(subtree.statistics.objects[2].bytes, 77u);
}

TEST(Tree, truncated_statistics_are_refused) {
  const auto bytes = to_bytes(0, pe_with(3, 0), true);
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_THROW(subtree_of(bytes.data(), size), std::runtime_error) << size;
  EXPECT_THAT(subtree_of(bytes.data(), 0).statistics.objects, IsEmpty());
}

TEST(Tree, a_migration_identifies_an_object_by_its_pe_and_its_index_on_that_pe) {
  const Subtree subtree = of_pes({4, 1}, false);
  EXPECT_THAT(moves_of(subtree, {0, 0, 0, 1, 1, 1, 1, 1, 1}), IsEmpty());
  const auto moves = moves_of(subtree, {0, 0, 1, 1, 1, 1, 0, 1, 1});
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].from_pe, 1);
  EXPECT_EQ(moves[0].object, 2u);
  EXPECT_EQ(moves[0].to_pe, 4);
  EXPECT_EQ(moves[1].from_pe, 4);
  EXPECT_EQ(moves[1].object, 3u);
  EXPECT_EQ(moves[1].to_pe, 1);
}

TEST(Tree, a_decision_is_the_same_whether_statistics_reach_the_root_along_a_tree_or_directly) {
  Statistics all;
  all.pes_are_here = false;
  std::vector<char> bytes;
  for (const std::int32_t pe : {0, 1, 2}) {
    const Statistics one = pe_with(6, pe);
    all.pes.push_back(one.pes[0]);
    for (ObjectRow object : one.objects) {
      object.pe = pe;
      all.objects.push_back(object);
    }
    const auto block = to_bytes(pe, one, false);
    bytes.insert(bytes.begin(), block.begin(), block.end());
  }
  Subtree subtree = subtree_of(bytes.data(), bytes.size());
  subtree.statistics.pes_are_here = false;
  for (const char* strategy : {"greedy", "greedy_refine", "poise", "refine"}) {
    const auto pes = Balancer(0, strategy).decide(all).pe_of_object;
    EXPECT_EQ(Balancer(0, strategy).decide(subtree.statistics).pe_of_object, pes) << strategy;
    EXPECT_EQ(pes.size(), 18u);
  }
}

TEST(Tree, loads_of_objects_without_names_are_not_kept_for_later_decisions) {
  // Without names, an object is known by its PE and its index on that PE. At the next decision,
  // another object may have the same PE and index.
  const auto remembered = [](const char* strategy, bool with_messages) {
    Statistics statistics = of_pes({0, 1}, with_messages).statistics;
    statistics.pes_are_here = false;
    Balancer balancer(0, strategy);
    balancer.decide(statistics);
    return balancer.checkpoint();
  };
  EXPECT_EQ(remembered("multistep", false), remembered("keep", false));
  EXPECT_NE(remembered("multistep", true), remembered("multistep", false));
}

TEST(Tree, a_generated_tree_has_a_process_level_only_if_several_processes_have_several_pes) {
  EXPECT_EQ(tree_for({1, 4}, "nuco:alpha=1e-05"),
            "{\n  \"tree\": \"PE_Root\",\n"
            "  \"root\": {\"pe\": 0, \"strategies\": [\"nuco:alpha=1e-05\"]}\n}\n");
  EXPECT_THAT(tree_for({4, 4}, "poise"), HasSubstr("PE_Root"));
  EXPECT_THAT(tree_for({4, 8}, "poise"), HasSubstr("PE_Process_Root"));
  EXPECT_THAT(tree_for({4, 8}, "poise"), HasSubstr("\"process\": {\"strategies\": [\"poise\"]}"));
}

}  // namespace
}  // namespace poise::charm
