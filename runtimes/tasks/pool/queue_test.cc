// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/queue.h"

#include <gtest/gtest.h>

namespace poise::tasks {
namespace {

std::unique_ptr<Task> task(std::uint64_t slot, int priority = 0, bool pinned = false) {
  auto made = std::make_unique<Task>();
  made->slot = slot;
  made->priority = priority;
  made->pinned = pinned;
  return made;
}

TEST(Queue, runs_borrowed_tasks_first_and_then_tasks_of_its_own_rank_by_priority_and_age) {
  Queue queue(1);
  queue.push(task(1), false);
  queue.push(task(2), false);
  queue.push(task(3, 5), false);
  queue.push_borrowed(task(4));
  queue.push(task(5, 0, true), false);
  for (const std::uint64_t slot : {4u, 3u, 5u, 1u, 2u}) EXPECT_EQ(queue.pop()->slot, slot);
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(Queue, sorts_consecutive_borrowed_tasks_of_the_same_function_by_decreasing_cost) {
  Queue queue(2);
  const auto costing = [](std::uint64_t slot, double cost, std::uint32_t function) {
    auto made = task(slot);
    made->cost = cost;
    made->function = function;
    return made;
  };
  queue.push_borrowed(costing(1, 1, 0));
  queue.push_borrowed(costing(2, 3, 0));
  queue.push_borrowed(costing(3, 1, 0));
  queue.push_borrowed(costing(4, 2, 0));
  queue.push_borrowed(costing(5, 1, 1));
  queue.push_borrowed(costing(6, 9, 0));
  for (const std::uint64_t slot : {2u, 4u, 1u, 3u, 5u, 6u}) EXPECT_EQ(queue.pop()->slot, slot);
}

TEST(Queue, a_conditional_pop_leaves_the_task_in_the_queue_if_the_condition_is_false) {
  Queue queue(1);
  queue.push(task(1), false);
  EXPECT_EQ(queue.pop_if([](const Task& next) { return next.slot != 1; }), nullptr);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.pop_if([](const Task& next) { return next.slot == 1; })->slot, 1u);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(Queue, finds_child_tasks_among_the_tasks_borrowed_from_other_ranks) {
  Queue queue(1);
  const auto child = [](std::uint64_t slot) {
    auto made = task(slot);
    made->has_parent = true;
    return made;
  };
  EXPECT_EQ(queue.pop_borrowed_child(), nullptr);
  queue.push(task(1), false);
  queue.push_borrowed(task(2));
  EXPECT_EQ(queue.pop_borrowed_child(), nullptr);
  queue.push_borrowed(child(3));
  queue.push_borrowed(child(4));
  EXPECT_EQ(queue.pop_borrowed_child()->slot, 3u);
  EXPECT_EQ(queue.take_last(true)->slot, 1u);
  EXPECT_EQ(queue.take_last(true)->slot, 4u);
  EXPECT_EQ(queue.pop_borrowed_child(), nullptr);
  EXPECT_EQ(queue.pop()->slot, 2u);
}

TEST(Queue, runs_the_newest_child_of_a_task_first) {
  Queue queue(1);
  queue.push(task(1), false);
  queue.push(task(2), true);
  queue.push(task(3), true);
  for (const std::uint64_t slot : {3u, 2u, 1u}) EXPECT_EQ(queue.pop()->slot, slot);
}

TEST(Queue, lends_the_task_that_would_start_last_but_never_a_pinned_one) {
  Queue queue(1);
  queue.push(task(1, 1), false);
  queue.push(task(2), false);
  queue.push(task(3), false);
  queue.push(task(4, -1, true), false);
  queue.push_borrowed(task(5));
  EXPECT_EQ(queue.num_lendable(), 4u);
  for (const std::uint64_t slot : {3u, 2u, 1u}) EXPECT_EQ(queue.take_last(false)->slot, slot);
  EXPECT_EQ(queue.take_last(false), nullptr);
  EXPECT_EQ(queue.take_last(true)->slot, 5u);
  EXPECT_EQ(queue.take_last(true), nullptr);
  EXPECT_EQ(queue.size(), 1u);
}

TEST(Queue, lends_the_requested_tasks_but_never_a_pinned_one) {
  Queue queue(1);
  for (const std::uint64_t slot : {1u, 2u, 3u}) queue.push(task(slot), false);
  queue.push(task(4, 0, true), false);
  queue.push_borrowed(task(5));
  const auto taken = queue.take([](const Task& task) { return task.slot != 2; });
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0]->slot, 5u);
  EXPECT_EQ(taken[1]->slot, 1u);
  EXPECT_EQ(taken[2]->slot, 3u);
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.num_lendable(), 1u);
}

TEST(Queue, takes_replicated_tasks_by_ticket_number_and_keeps_the_order_of_the_other_tasks) {
  Queue queue(1);
  for (std::uint64_t slot = 1; slot <= 100; ++slot) {
    auto made = task(slot, static_cast<int>(slot) / 50);
    if (slot % 3 == 0) made->extras.make().ticket = slot;
    queue.push(std::move(made), false);
  }
  EXPECT_EQ(queue.take_ticket(3)->slot, 3u);
  EXPECT_EQ(queue.take_ticket(3), nullptr);
  EXPECT_EQ(queue.take_ticket(4), nullptr);
  EXPECT_EQ(queue.pop()->slot, 100u);
  EXPECT_EQ(queue.take([](const Task& task) { return task.slot == 6; }).size(), 1u);
  EXPECT_EQ(queue.take_ticket(6), nullptr);
  for (std::uint64_t slot = 99; slot > 6; slot -= 3) EXPECT_EQ(queue.take_ticket(slot)->slot, slot);
  std::size_t lendable = 0;
  queue.for_each_lendable([&](const Task& task) {
    EXPECT_NE(task.slot % 3, 0u);
    ++lendable;
  });
  EXPECT_EQ(lendable, queue.num_lendable());
  EXPECT_EQ(queue.take_last(false)->slot, 49u);
  for (std::uint64_t slot = 50; slot < 100; ++slot) {
    if (slot % 3 == 0) continue;
    EXPECT_EQ(queue.pop()->slot, slot);
  }
  for (std::uint64_t slot = 1; slot < 49; ++slot) {
    if (slot % 3 == 0) continue;
    EXPECT_EQ(queue.pop()->slot, slot);
  }
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(Queue, finds_a_child_task_even_if_many_tasks_ahead_of_it_were_taken_from_the_queue) {
  Queue queue(1);
  const auto children = std::make_shared<Children>();
  auto child = task(1);
  child->siblings = children;
  queue.push(std::move(child), false);
  for (std::uint64_t slot = 2; slot <= 100; ++slot) {
    auto made = task(slot);
    made->extras.make().ticket = slot;
    queue.push(std::move(made), true);
  }
  queue.push(task(101), true);
  for (std::uint64_t slot = 2; slot <= 100; ++slot) queue.take_ticket(slot);
  const auto found = queue.pop_of(*children);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->slot, 1u);
}

TEST(Queue,
     takes_all_children_of_a_task_in_linear_time_even_if_a_child_of_another_task_comes_first) {
  // If taking a child made the search for the next child longer, this test would run for minutes.
  constexpr std::uint64_t kChildren = 300'000;
  Queue queue(1);
  const auto children = std::make_shared<Children>(), others = std::make_shared<Children>();
  const auto child_of = [](const std::shared_ptr<Children>& parent, std::uint64_t slot) {
    auto made = task(slot);
    made->siblings = parent;
    return made;
  };
  for (std::uint64_t slot = kChildren; slot > 0; --slot) queue.push(child_of(children, slot), true);
  queue.push(child_of(others, 0), true);
  for (std::uint64_t slot = 1; slot <= kChildren; ++slot)
    ASSERT_EQ(queue.pop_of(*children)->slot, slot);
  EXPECT_EQ(queue.pop()->slot, 0u);
}

TEST(Queue, sums_the_costs_and_bytes_of_lendable_tasks) {
  Queue queue(2);
  auto made = task(1);
  made->function = 1;
  made->cost = 2.5;
  char data[8] = {};
  const Item items[] = {
      {data, 8, Mode::in}, {data, 4, Mode::inout}, {data, 2, Mode::out}, {nullptr, 9, Mode::in}};
  made->items.assign(items);
  made->queued = made->bytes();
  queue.push(std::move(made), false);
  EXPECT_EQ(queue.cost()[1], 2.5);
  EXPECT_EQ(queue.bytes().out, 12);
  EXPECT_EQ(queue.bytes().back, 6);
  queue.pop();
  EXPECT_EQ(queue.cost()[1], 0);
  EXPECT_EQ(queue.bytes().back, 0);
}

}  // namespace
}  // namespace poise::tasks
