// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_queue.h"

#include <deque>
#include <gtest/gtest.h>
#include <tuple>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

// A simple queue, for comparison: it stores each task separately.
class SimpleQueue {
 public:
  using Task = std::tuple<std::uint32_t, double, std::uint64_t>;  // owner, seconds and ticket

  void push(const TaskGroup& group, bool is_own) {
    for (std::uint32_t i = 0; i < group.count; ++i)
      (is_own ? own : borrowed).emplace_back(group.owner, group.task_s, group.ticket);
  }
  std::vector<Task> take_next() {
    std::deque<Task>& queue = borrowed.empty() ? own : borrowed;
    if (queue.empty()) return {};
    const Task task = queue.front();
    queue.pop_front();
    return {task};
  }
  std::vector<Task> take_last(std::uint64_t tasks, bool borrowed_too) {
    std::vector<Task> taken;
    for (; tasks > 0 && !own.empty(); --tasks, own.pop_back()) taken.push_back(own.back());
    for (; borrowed_too && tasks > 0 && !borrowed.empty(); --tasks, borrowed.pop_back())
      taken.push_back(borrowed.back());
    return taken;
  }
  std::vector<Task> take_ticket(std::uint64_t ticket) {
    for (auto task = own.begin(); task != own.end(); ++task) {
      if (std::get<2>(*task) != ticket) continue;
      const Task found = *task;
      own.erase(task);
      return {found};
    }
    return {};
  }
  double cost(bool gives_costs) const {
    double sum = 0;
    for (const auto* queue : {&own, &borrowed})
      for (const Task& task : *queue) sum += gives_costs ? std::get<1>(task) : 1;
    return sum;
  }

  std::deque<Task> own, borrowed;
};

std::vector<SimpleQueue::Task> single_tasks(const std::vector<TaskGroup>& groups) {
  std::vector<SimpleQueue::Task> tasks;
  for (const TaskGroup& group : groups)
    for (std::uint32_t i = 0; i < group.count; ++i)
      tasks.emplace_back(group.owner, group.task_s, group.ticket);
  return tasks;
}

std::vector<SimpleQueue::Task> single_tasks(const std::optional<TaskGroup>& group) {
  return group ? single_tasks(std::vector{*group}) : std::vector<SimpleQueue::Task>{};
}

TEST(LendingQueue, takes_the_same_tasks_as_a_simple_queue_of_single_tasks) {
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool gives_costs = seed % 2 == 0;
    LendingQueue queue(gives_costs);
    SimpleQueue simple;
    std::uint64_t last_ticket = 0;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t tasks = random.below(12);
      switch (random.below(7)) {
        case 0:
        case 1: {
          const bool is_own = random.below(3) > 0, has_ticket = is_own && random.below(2) > 0;
          const TaskGroup group{
              .owner = is_own ? 0U : 1U,
              .count = has_ticket ? 1U : static_cast<std::uint32_t>(1 + random.below(8)),
              .task_s = static_cast<double>(1 + random.below(100)),
              .ticket = has_ticket ? ++last_ticket : 0};
          is_own ? queue.push_own(group) : queue.push_borrowed(group);
          simple.push(group, is_own);
          break;
        }
        case 2:
        case 3: EXPECT_EQ(single_tasks(queue.take_next()), simple.take_next()); break;
        case 4: {
          const bool borrowed_too = random.below(2) > 0;
          EXPECT_EQ(single_tasks(queue.take_last(tasks, borrowed_too)),
                    simple.take_last(tasks, borrowed_too));
          break;
        }
        default: {
          const std::uint64_t ticket = 1 + random.below(last_ticket + 2);
          EXPECT_EQ(single_tasks(queue.take_ticket(ticket)), simple.take_ticket(ticket));
        }
      }
      EXPECT_EQ(queue.num_own(), simple.own.size());
      EXPECT_EQ(queue.num_borrowed(), simple.borrowed.size());
      EXPECT_EQ(queue.recount(), queue.size());
      EXPECT_EQ(queue.cost(), simple.cost(gives_costs));  // sums of whole numbers are exact
    }
  }
}

TEST(LendingQueue, a_task_keeps_the_properties_of_its_group) {
  LendingQueue queue(true);
  queue.push_own({.owner = 3, .count = 2, .children = 5, .task_s = 0.25, .was_passed_on = true});
  const std::optional<TaskGroup> task = queue.take_next();
  ASSERT_TRUE(task);
  EXPECT_EQ(task->count, 1u);
  EXPECT_EQ(task->children, 5u);
  EXPECT_TRUE(task->was_passed_on);
  EXPECT_EQ(queue.cost_of(*task), 0.25);
}

TEST(LendingQueue, the_cost_of_an_empty_queue_is_exactly_0) {
  LendingQueue queue(true);
  for (const double task_s : {0.1, 0.2, 0.3}) queue.push_own({.count = 1, .task_s = task_s});
  while (queue.take_next()) continue;
  EXPECT_EQ(queue.cost(), 0);
}

}  // namespace
}  // namespace poise
