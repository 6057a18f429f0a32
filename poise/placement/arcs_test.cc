// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/arcs.h"

#include <gtest/gtest.h>
#include <map>
#include <tuple>

#include "poise/base/random.h"

namespace poise {
namespace {

TEST(Arcs, each_arc_holds_the_sum_of_all_messages_between_two_tasks) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    Workload workload;
    workload.tasks.resize(1 + random.below(30));
    const auto drawn_task = [&] { return static_cast<TaskId>(random.below(workload.num_tasks())); };
    for (std::uint64_t m = random.below(200); m > 0; --m)
      workload.messages.push_back(
          {drawn_task(), drawn_task(), random.below(5), random.below(1'000)});

    std::map<std::pair<TaskId, TaskId>, std::pair<double, double>> sent;  // messages, bytes
    std::map<std::pair<TaskId, TaskId>, bool> pairs;
    for (const Message& message : workload.messages) {
      if (message.from == message.to) continue;
      auto& [count, bytes] = sent[{message.from, message.to}];
      count += static_cast<double>(message.count);
      bytes += static_cast<double>(message.bytes);
      pairs[{message.from, message.to}] = pairs[{message.to, message.from}] = true;
    }

    const Arcs arcs(workload);
    EXPECT_EQ(arcs.count(), pairs.size());
    auto expected = pairs.begin();
    for (TaskId t = 0; t < workload.num_tasks(); ++t)
      for (const Arc& arc : arcs.of(t)) {
        ASSERT_EQ(expected->first, std::pair(t, arc.task));
        ++expected;
        EXPECT_EQ(std::pair(arc.out, arc.out_bytes), sent[std::pair(t, arc.task)]);
        EXPECT_EQ(std::pair(arc.in, arc.in_bytes), sent[std::pair(arc.task, t)]);
      }
    EXPECT_EQ(expected, pairs.end());
  }
}

TEST(Arcs, a_workload_without_tasks_has_no_arcs) { EXPECT_EQ(Arcs(Workload()).count(), 0U); }

}  // namespace
}  // namespace poise
