// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/merge.h"

#include <gtest/gtest.h>
#include <map>
#include <utility>

#include "poise/base/random.h"

namespace poise {
namespace {

TEST(Merge,
     messages_with_the_same_sender_and_receiver_are_merged_and_their_counts_and_bytes_are_summed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TaskId num_tasks = 1 + random.below(10);
    std::vector<Message> messages;
    for (std::size_t m = random.below(80); m > 0; --m)
      messages.push_back({static_cast<TaskId>(random.below(num_tasks)),
                          static_cast<TaskId>(random.below(num_tasks)), random.below(5),
                          random.below(1000)});
    std::map<std::pair<TaskId, TaskId>, std::pair<std::uint64_t, std::uint64_t>> sums;
    for (const Message& m : messages) {
      sums[{m.from, m.to}].first += m.count;
      sums[{m.from, m.to}].second += m.bytes;
    }
    const std::vector<Message> copy = merged(num_tasks, messages);
    merge_in_place(messages);
    for (const std::vector<Message>& found : {copy, messages}) {
      ASSERT_EQ(found.size(), sums.size());
      auto expected = sums.begin();
      for (const Message& m : found) {
        EXPECT_EQ(std::pair(m.from, m.to), expected->first);
        EXPECT_EQ(std::pair(m.count, m.bytes), expected->second);
        ++expected;
      }
    }
  }
}

}  // namespace
}  // namespace poise
