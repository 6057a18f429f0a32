// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/charm/locations.h"

#include <gtest/gtest.h>
#include <set>
#include <utility>

#include "poise/base/random.h"

namespace poise::charm {
namespace {

using Told = std::set<std::pair<std::int32_t, std::uint32_t>>;

TEST(Locations, if_a_sender_or_receiver_moved_the_sender_pe_is_told_once_where_the_receiver_is) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const auto num_objects = static_cast<std::uint32_t>(1 + random.below(20));
    const auto num_pes = static_cast<std::uint32_t>(1 + random.below(5));
    balance::MeasuredPhase phase;
    std::vector<PlaceId> before, after;
    std::vector<std::uint32_t> row_of_task;
    for (std::uint32_t t = 0; t < num_objects + 1; ++t) {  // the last task is a PE that sends
      phase.workload.tasks.emplace_back();
      before.push_back(static_cast<PlaceId>(random.below(num_pes)));
      after.push_back(random.below(2) == 0 || t == num_objects
                          ? before.back()
                          : static_cast<PlaceId>(random.below(num_pes)));
      if (t == num_objects) break;
      row_of_task.push_back(num_objects - 1 - t);
    }
    for (std::uint64_t i = random.below(60); i > 0; --i)
      phase.workload.messages.push_back({static_cast<TaskId>(random.below(num_objects + 1)),
                                         static_cast<TaskId>(random.below(num_objects + 1))});
    PeMap pe_map;  // PEs in the reverse order of places
    for (std::uint32_t p = 0; p < num_pes; ++p) pe_map.pe_of_place.push_back(num_pes - 1 - p);
    phase.current = Placement(before);

    Told wanted;
    const auto pe_of = [&](TaskId t) { return static_cast<std::int32_t>(num_pes - 1 - after[t]); };
    for (const Message& message : phase.workload.messages) {
      const bool moves =
          before[message.from] != after[message.from] || before[message.to] != after[message.to];
      if (message.to < num_objects && moves && pe_of(message.from) != pe_of(message.to))
        wanted.insert({pe_of(message.from), row_of_task[message.to]});
    }
    const auto locations = locations_to_tell(phase, row_of_task, Placement(after), pe_map);
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

}  // namespace
}  // namespace poise::charm
