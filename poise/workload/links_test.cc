// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/links.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <tuple>

#include "poise/base/random.h"

namespace poise {
namespace {

using Row = std::vector<std::tuple<TaskId, std::uint64_t, std::uint64_t>>;

Row row_of(const Links& links, TaskId t) {
  Row row;
  for (const Link& link : links.of(t)) row.emplace_back(link.task, link.count, link.bytes);
  return row;
}

TEST(Links, list_the_messages_of_each_task_like_a_simple_reference_implementation) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Workload workload;
    workload.tasks.resize(1 + random.below(12));
    const TaskId num_tasks = workload.num_tasks();
    for (std::size_t m = random.below(60); m > 0; --m)
      workload.messages.push_back({static_cast<TaskId>(random.below(num_tasks)),
                                   static_cast<TaskId>(random.below(num_tasks)), random.below(5),
                                   random.below(1000)});
    std::vector<Row> in(num_tasks), out(num_tasks);
    std::vector<std::map<TaskId, std::pair<std::uint64_t, std::uint64_t>>> both(num_tasks);
    for (const Message& m : workload.messages) {
      if (m.from == m.to) continue;
      in[m.to].emplace_back(m.from, m.count, m.bytes);
      out[m.from].emplace_back(m.to, m.count, m.bytes);
      for (const auto& [task, other] : {std::pair(m.from, m.to), std::pair(m.to, m.from)}) {
        both[task][other].first += m.count;
        both[task][other].second += m.bytes;
      }
    }
    std::size_t num_in = 0, num_both = 0;
    const Links to = received(workload), from = sent(workload), all = neighbours(workload);
    for (TaskId t = 0; t < num_tasks; ++t) {
      EXPECT_EQ(row_of(to, t), in[t]) << t;
      EXPECT_EQ(row_of(from, t), out[t]) << t;
      Row sums;
      for (const auto& [other, sum] : both[t]) sums.emplace_back(other, sum.first, sum.second);
      EXPECT_EQ(row_of(all, t), sums) << t;
      num_in += in[t].size();
      num_both += sums.size();
    }
    EXPECT_EQ(to.size(), num_in);
    EXPECT_EQ(from.size(), num_in);
    EXPECT_EQ(all.size(), num_both);
  }
}

}  // namespace
}  // namespace poise
