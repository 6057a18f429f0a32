// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/message_counts.h"

#include <gmock/gmock.h>
#include <utility>

namespace poise {
namespace {

using Row = std::vector<std::pair<TaskId, std::uint64_t>>;

Row row_of(const MessageCounts& counts, TaskId t) {
  Row row;
  for (const MessageCounts::Entry& entry : counts.of(t))
    row.emplace_back(entry.task, counts.count_of(entry));
  return row;
}

Workload three_tasks() {
  Workload workload;
  workload.tasks.resize(4);
  workload.messages = {{0, 2, 5, 1}, {2, 2, 9, 1}, {1, 2, 7, 1}, {2, 0, 1, 1}, {0, 2, 2, 1}};
  return workload;
}

TEST(MessageCounts, lists_the_senders_per_receiving_task_in_the_order_of_the_messages) {
  const MessageCounts counts = counts_received(three_tasks());
  EXPECT_EQ(row_of(counts, 0), (Row{{2, 1}}));
  EXPECT_EQ(row_of(counts, 1), Row{});
  EXPECT_EQ(row_of(counts, 2), (Row{{0, 5}, {1, 7}, {0, 2}}));
  EXPECT_EQ(row_of(counts, 3), Row{});
}

TEST(MessageCounts, lists_each_exchanged_message_once_for_its_sender_and_once_for_its_receiver) {
  const MessageCounts counts = counts_exchanged(three_tasks());
  EXPECT_EQ(row_of(counts, 0), (Row{{2, 5}, {2, 1}, {2, 2}}));
  EXPECT_EQ(row_of(counts, 1), (Row{{2, 7}}));
  EXPECT_EQ(row_of(counts, 2), (Row{{0, 5}, {1, 7}, {0, 1}, {0, 2}}));
}

TEST(MessageCounts, stores_message_counts_of_up_to_64_bits) {
  Workload workload = three_tasks();
  workload.messages[0].count = 0x7fffffff;
  workload.messages[2].count = 0x80000000;
  workload.messages[4].count = ~std::uint64_t{0};
  EXPECT_EQ(row_of(counts_received(workload), 2),
            (Row{{0, 0x7fffffff}, {1, 0x80000000}, {0, ~std::uint64_t{0}}}));
}

}  // namespace
}  // namespace poise
