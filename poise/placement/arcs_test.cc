// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/arcs.h"

#include <gtest/gtest.h>
#include <map>
#include <tuple>

#include "poise/base/random.h"

namespace poise {
namespace {

/// Compares the arcs with sums over all messages, for random messages with fewer than `max_bytes`
/// bytes.
void expect_sums(std::uint64_t max_bytes) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    Workload workload;
    workload.tasks.resize(1 + random.below(30));
    const auto drawn_task = [&] { return static_cast<TaskId>(random.below(workload.num_tasks())); };
    for (std::uint64_t m = random.below(200); m > 0; --m)
      workload.messages.push_back(
          {drawn_task(), drawn_task(), random.below(5), random.below(max_bytes)});

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

TEST(Arcs, each_arc_holds_the_sum_of_all_messages_between_two_tasks) { expect_sums(1'000); }

TEST(Arcs, sums_of_message_bytes_may_exceed_32_bits) {
  // Messages below 2^31 bytes fit in 32 bits, but the sum over several messages of a pair may not.
  // With the limit 2^44, single messages may not fit either.
  expect_sums(std::uint64_t{1} << 31);
  expect_sums(std::uint64_t{1} << 44);
}

TEST(Arcs, sums_are_the_same_whether_they_are_stored_in_32_or_in_64_bits) {
  Workload workload;
  workload.tasks.resize(4);
  workload.messages = {{0, 1, 3, 100}, {1, 0, 2, 50}, {2, 0, 1, 7}};
  const Arcs small(workload);
  workload.messages.push_back({3, 2, 1, std::uint64_t{1} << 32});
  const Arcs large(workload);
  for (TaskId t = 0; t < 2; ++t) {
    ASSERT_EQ(small.of(t).size(), large.of(t).size());
    for (std::size_t i = 0; i < small.of(t).size(); ++i) {
      const Arc a = small.of(t)[i], b = large.of(t)[i];
      EXPECT_EQ(std::tie(a.task, a.in, a.out, a.in_bytes, a.out_bytes),
                std::tie(b.task, b.in, b.out, b.in_bytes, b.out_bytes));
    }
  }
  EXPECT_EQ(large.of(2)[1].in_bytes, 4294967296.0);
}

TEST(Arcs, a_workload_without_tasks_has_no_arcs) { EXPECT_EQ(Arcs(Workload()).count(), 0U); }

}  // namespace
}  // namespace poise
