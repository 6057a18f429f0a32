// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/task_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "runtimes/tasks/offload/lent_tasks.h"
#include "runtimes/tasks/pool/pool.h"

#include "poise/base/file.h"

namespace poise::tasks {
namespace {

constexpr TaskState kFirst = TaskState::created;

std::vector<TaskState> all_states() {
  std::vector<TaskState> all;
  for (std::size_t state = 0; state < std::size(kTaskStates); ++state)
    all.push_back(static_cast<TaskState>(state));
  return all;
}

std::vector<TaskState> followers(TaskState present) {
  std::vector<TaskState> next;
  for (const TaskState state : all_states())
    if (may_follow(state, present)) next.push_back(state);
  return next;
}

const char* name_of(TaskState state) { return kTaskStates[static_cast<std::size_t>(state)].name; }

TEST(TaskState, every_state_can_be_reached_and_only_the_states_sent_and_finished_are_final) {
  std::vector<TaskState> reached = {kFirst};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const TaskState next : followers(reached[i]))
      if (std::ranges::find(reached, next) == reached.end()) reached.push_back(next);
  EXPECT_EQ(reached.size(), std::size(kTaskStates));
  for (const TaskState state : all_states())
    EXPECT_EQ(followers(state).empty(), state == TaskState::sent || state == TaskState::finished)
        << name_of(state);
}

TEST(TaskState, the_guide_lists_for_each_state_the_states_that_can_follow) {
  std::string table;
  for (const TaskState state : all_states()) {
    std::string line = std::string("    ") + name_of(state);
    if (followers(state).empty()) continue;
    line.resize(17, ' ');
    std::string separator = "─► ";
    for (const TaskState next : followers(state))
      line += std::exchange(separator, ", ") + name_of(next);
    table += line + "\n";
  }
  EXPECT_THAT(read_file(POISE_GUIDE), testing::HasSubstr("\n\n" + table + "\n"));
}

class TaskStates : public ::testing::Test {
 protected:
  Task* submit(bool in_order = false) {
    auto task = TaskPool::blank();
    Task* const made = task.get();
    const Item item{&data_, sizeof data_, Mode::inout};
    task->items.assign({&item, 1});
    pool_.submit(std::move(task), in_order);
    return made;
  }
  void run() {
    double now_s = 0;
    pool_.run(now_s, 1, [] { return false; });
  }

  int data_ = 0;
  TaskState while_running_ = kFirst;
  const Registered function_{
      "f", "", [this](std::span<const Item>) { while_running_ = pool_.current()->state(); }};
  TaskPool pool_{0, {&function_}};
  LentTasks lent_{pool_};
};

TEST_F(TaskStates, a_submitted_task_is_first_queued_and_then_runs) {
  EXPECT_EQ(submit()->state(), TaskState::queued);
  run();
  EXPECT_EQ(while_running_, TaskState::running);
}

TEST_F(TaskStates, an_ordered_task_is_blocked_until_the_previous_task_on_its_data_has_finished) {
  submit(true);
  Task* const second = submit(true);
  EXPECT_EQ(second->state(), TaskState::blocked);
  run();
  EXPECT_EQ(second->state(), TaskState::queued);
  run();
}

TEST_F(TaskStates, a_lent_task_either_returns_to_the_queue_or_finishes) {
  Task* const task = submit();
  for (int time = 0; time < 2; ++time) {
    auto taken = pool_.take_for_lending(1, 1e9, false);
    EXPECT_EQ(task->state(), TaskState::taken);
    lent_.reserve(*task);
    lent_.keep(std::move(taken.front()));
    EXPECT_EQ(task->state(), TaskState::lent);
    auto back = lent_.take(task->slot);
    if (time == 0) {
      pool_.take_back(std::move(back));
      EXPECT_EQ(task->state(), TaskState::queued);
    } else {
      task->enter(TaskState::ending);
      pool_.finish(std::move(back), 1);
    }
  }
  EXPECT_TRUE(pool_.state().idle());
}

TEST_F(TaskStates, a_borrowed_task_has_run_before_its_results_are_sent) {
  auto borrowed = TaskPool::blank();
  borrowed->owner = 1;
  pool_.accept_borrowed(std::move(borrowed));
  run();
  const auto done = pool_.take_done_borrowed();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done.front()->state(), TaskState::ran);
  done.front()->enter(TaskState::sent);
}

TEST_F(TaskStates, a_task_whose_replica_runs_elsewhere_ends_with_the_results_of_the_replica) {
  Task* const task = submit();
  pool_.want_replicas({.tasks = 1, .ranks = {1}});
  for (auto& copied : pool_.take_to_replicate([](std::uint32_t) { return true; })) {
    copied->extras.make().replicas.clear();
    pool_.take_back(std::move(copied));
  }
  const Ticket ticket = task->extras->ticket;
  EXPECT_TRUE(pool_.grant_replica(ticket));
  EXPECT_EQ(task->state(), TaskState::replica_runs);
  auto back = pool_.take_started_elsewhere(ticket);
  task->enter(TaskState::ending);
  pool_.finish(std::move(back), 1);
  EXPECT_TRUE(pool_.state().idle());
}

#if POISE_ASSERTIONS >= 1
TEST(TaskStateDeathTest, aborts_if_a_task_enters_a_state_that_may_not_follow_its_current_state) {
  for (const TaskState next : {TaskState::running, TaskState::lent, TaskState::finished}) {
    Task task;
    EXPECT_DEATH(task.enter(next), "may_follow");
  }
}
#endif

}  // namespace
}  // namespace poise::tasks
