// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/heaviest_first.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

std::vector<TaskId> ids_of(const std::vector<LoadedTask>& order) {
  std::vector<TaskId> ids;
  for (const LoadedTask& loaded : order) ids.push_back(loaded.task);
  return ids;
}

std::vector<TaskId> comparison_sort(const std::vector<Task>& tasks) {
  std::vector<TaskId> order;
  for (TaskId t = 0; t < tasks.size(); ++t)
    if (tasks[t].movable) order.push_back(t);
  std::stable_sort(order.begin(), order.end(),
                   [&](TaskId a, TaskId b) { return tasks[a].load_s > tasks[b].load_s; });
  return order;
}

TEST(HeaviestFirst, the_order_is_empty_if_no_task_is_movable) {
  EXPECT_TRUE(heaviest_first({}).empty());
  EXPECT_TRUE(heaviest_first(std::vector<Task>(3, Task{.load_s = 1, .movable = false})).empty());
}

TEST(HeaviestFirst, orders_equal_loads_by_id_and_treats_minus_zero_as_zero) {
  const std::vector<Task> tasks{{.load_s = 0.0}, {.load_s = -0.0}, {.load_s = 2}, {.load_s = 2}};
  EXPECT_THAT(ids_of(heaviest_first(tasks)), testing::ElementsAre(2, 3, 0, 1));
}

TEST(HeaviestFirst, gives_the_same_order_as_a_comparison_sort) {
  for (std::uint64_t seed = 0; seed < num_seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    // With spread 0 all loads are equal, with 1e-15 they differ in the last bits only, and with 300
    // they cover the whole range of double.
    const double spread = std::vector<double>{0, 1e-15, 1e-9, 1, 300}[seed % 5];
    std::vector<Task> tasks(random.below(5000));
    for (Task& task : tasks) {
      task.load_s = portable_exp(spread * random.normal());
      if (random.below(4) == 0) task.load_s = 1;
      if (random.below(50) == 0) task.load_s = 0;
      task.movable = random.below(10) != 0;
    }
    EXPECT_EQ(ids_of(heaviest_first(tasks)), comparison_sort(tasks));
  }
}

}  // namespace
}  // namespace poise
