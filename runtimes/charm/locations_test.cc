// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/charm/locations.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <utility>

#include "poise/base/random.h"

namespace poise::charm {
namespace {

using Told = std::set<std::pair<std::int32_t, std::uint32_t>>;

/// A random decision about objects on PEs. The last task is a PE that sends messages.
struct Example {
  explicit Example(Random& random) {
    const auto num_objects = static_cast<std::uint32_t>(1 + random.below(20));
    num_pes = static_cast<std::uint32_t>(1 + random.below(5));
    std::vector<PlaceId> places;
    pe_of_object.resize(num_objects);
    statistics.objects.resize(num_objects);
    for (TaskId t = 0; t < num_objects; ++t) {
      const std::uint32_t row = num_objects - 1 - t;
      places.push_back(static_cast<PlaceId>(random.below(num_pes)));
      pe_of_object[row] = pe_of(places.back());
      statistics.objects[row].pe = random.below(2) == 0
                                       ? pe_of_object[row]
                                       : static_cast<std::int32_t>(random.below(num_pes + 1));
      row_of_task.push_back(row);
    }
    places.push_back(static_cast<PlaceId>(random.below(num_pes)));
    placement = Placement(places);
    for (std::uint32_t p = 0; p < num_pes; ++p)
      pe_map.pe_of_place.push_back(static_cast<std::uint32_t>(pe_of(p)));
  }

  /// The PEs are numbered in the reverse order of the places.
  std::int32_t pe_of(PlaceId place) const { return static_cast<std::int32_t>(num_pes - 1 - place); }
  TaskId num_objects() const { return static_cast<TaskId>(row_of_task.size()); }
  bool moves(TaskId t) const {
    return t < num_objects() &&
           pe_of_object[row_of_task[t]] != statistics.objects[row_of_task[t]].pe;
  }
  Decided decided() const { return {statistics, row_of_task, placement, pe_map, pe_of_object}; }

  std::uint32_t num_pes = 0;
  Statistics statistics;
  std::vector<std::uint32_t> row_of_task;
  Placement placement;
  PeMap pe_map;
  std::vector<std::int32_t> pe_of_object;
};

TEST(Locations,
     tells_a_pe_once_where_a_receiver_is_if_sender_or_receiver_moved_or_a_message_made_a_detour) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const Example example(random);
    const TaskId num_objects = example.num_objects();
    std::vector<Message> messages;
    for (std::uint64_t i = random.below(60); i > 0; --i)
      messages.push_back({static_cast<TaskId>(random.below(num_objects + 1)),
                          static_cast<TaskId>(random.below(num_objects + 1))});
    std::vector<Detour> detours;
    for (std::uint64_t i = random.below(5); i > 0; --i)
      detours.push_back({static_cast<TaskId>(random.below(num_objects + 1)),
                         static_cast<TaskId>(random.below(num_objects))});
    Told wanted;
    const auto pe_of = [&](TaskId t) { return example.pe_of(example.placement.of(t)); };
    for (const Message& message : messages)
      if (message.to < num_objects && pe_of(message.from) != pe_of(message.to) &&
          (example.moves(message.from) || example.moves(message.to)))
        wanted.insert({pe_of(message.from), example.row_of_task[message.to]});
    for (const Detour& detour : detours)
      if (pe_of(detour.from) != pe_of(detour.to))
        wanted.insert({pe_of(detour.from), example.row_of_task[detour.to]});
    const auto locations = locations_to_tell(messages, detours, example.decided());
    Told told;
    std::set<std::int32_t> pes;
    for (std::size_t i = 0; i < locations.size(); ++i) {
      const bool is_new = i == 0 || locations[i - 1].sender_pe != locations[i].sender_pe;
      EXPECT_TRUE(!is_new || pes.insert(locations[i].sender_pe).second) << "PEs are not together";
      EXPECT_TRUE(told.insert({locations[i].sender_pe, locations[i].object}).second);
    }
    EXPECT_EQ(told, wanted);
  }
}

TEST(Locations,
     an_unavailable_pe_is_told_where_the_receivers_of_messages_from_its_pinned_objects_are) {
  // Object 0 is pinned to PE 0, which is unavailable, so the placement assigns the object to
  // another PE's place. Object 1 moves from PE 1 to PE 2.
  Statistics statistics;
  statistics.objects = {{{0, 1}, 1, 0, 0, false}, {{1, 1}, 1, 0, 1, true}};
  const std::vector<std::uint32_t> row_of_task = {0, 1};
  const PeMap pe_map{{1, 2}, {kNoPlace, 0, 1}};
  const std::vector<Message> messages = {{0, 1}, {1, 0}};
  const std::vector<std::int32_t> pe_of_object = {0, 2};
  for (const PlaceId place_of_pinned : {0u, 1u}) {
    const Placement placement(std::vector<PlaceId>{place_of_pinned, 1});
    const auto locations =
        locations_to_tell(messages, {}, {statistics, row_of_task, placement, pe_map, pe_of_object});
    ASSERT_EQ(locations.size(), 2u);
    EXPECT_EQ(locations[0].sender_pe, 0);
    EXPECT_EQ(locations[0].object, 1u);
    EXPECT_EQ(locations[1].sender_pe, 2);
    EXPECT_EQ(locations[1].object, 0u);
  }
}

TEST(Locations, each_pe_that_sends_to_an_object_asks_only_once_where_the_object_is) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const Example example(random);
    std::vector<OutsideMessage> messages;
    // For each pair of a receiver and a PE that sends messages to it: whether at least one sender
    // on this PE has moved.
    std::map<std::pair<std::uint64_t, std::int32_t>, bool> wanted;
    for (std::uint64_t i = random.below(60); i > 0; --i) {
      const std::uint64_t to = random.below(10);
      const auto from = static_cast<TaskId>(random.below(example.num_objects() + 2));
      messages.push_back({{to, 7}, static_cast<std::int32_t>(to), from});
      const bool is_object = from < example.num_objects();
      const std::int32_t pe = is_object ? example.pe_of_object[example.row_of_task[from]]
                                        : static_cast<std::int32_t>(from - example.num_objects());
      bool& must_tell = wanted[{to, pe}];
      must_tell = must_tell || example.moves(from);
    }
    std::map<std::pair<std::uint64_t, std::int32_t>, bool> asked;
    for (const Question& question : questions_to_ask(messages, example.decided())) {
      EXPECT_EQ(question.last_known_pe, static_cast<std::int32_t>(question.object.id));
      const std::pair about(question.object.id, question.sender_pe);
      EXPECT_TRUE(asked.insert({about, question.must_tell}).second) << "asked twice";
    }
    EXPECT_EQ(asked, wanted);
  }
}

}  // namespace
}  // namespace poise::charm
