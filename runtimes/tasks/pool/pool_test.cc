// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/pool.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <pthread.h>
#include <stdexcept>

#include "runtimes/tasks/tuning.h"

#include "poise/base/clock.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {
namespace {

constexpr std::size_t kMaxEvents = lending_tuning::kMaxAtOnce;

class Batches : public ::testing::Test {
 protected:
  enum : std::uint32_t { kPlain, kOther, kFails, kParent };

  void submit(std::uint32_t function, std::function<void()> on_finish = {}) {
    auto task = TaskPool::blank();
    task->function = function;
    if (on_finish) task->extras.make().on_finish = std::move(on_finish);
    pool_.submit(std::move(task));
  }
  // Runs a batch of at most `most` tasks. When a total of `until_ran` tasks have run, tells the
  // pool that a message is waiting.
  std::size_t run(std::size_t most = kMaxEvents, std::size_t until_ran = kNever) {
    const double begin_s = wall_now_s();
    double now_s = begin_s;
    const std::size_t batch_size = pool_.run(now_s, most, [&] { return ran_ >= until_ran; });
    EXPECT_GE(now_s, begin_s);
    return batch_size;
  }

  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  std::size_t ran_ = 0;
  const Registered functions_[4] = {
      {"plain", "", [this](std::span<const Item>) { ++ran_; }},
      {"other", "", [this](std::span<const Item>) { ++ran_; }},
      {"fails", "", [](std::span<const Item>) { throw std::runtime_error("on purpose"); }},
      {"parent", "", [this](std::span<const Item>) { submit(kPlain), submit(kPlain); }}};
  TaskPool pool_{0, {functions_, functions_ + 1, functions_ + 2, functions_ + 3}};
};

TEST_F(Batches, contain_at_most_the_requested_number_of_tasks) {
  for (int i = 0; i < 7; ++i) submit(kPlain);
  EXPECT_EQ(run(3), 3u);
  EXPECT_EQ(run(1), 1u);
  EXPECT_EQ(run(), 3u);
  EXPECT_EQ(run(), 0u);
  EXPECT_EQ(ran_, 7u);
}

TEST_F(Batches, all_tasks_of_a_batch_count_as_finished_when_the_batch_ends) {
  for (int i = 0; i < 5; ++i) submit(kPlain);
  EXPECT_FALSE(pool_.state().idle());
  run();
  const auto state = pool_.state();
  EXPECT_TRUE(state.idle());
  EXPECT_EQ(state.created, 5u);
  EXPECT_EQ(state.finished, 5u);
  EXPECT_EQ(pool_.counters().ran_own, 5u);
  EXPECT_GT(pool_.times().per_unit(kPlain), 0);
}

TEST_F(Batches, end_early_if_a_message_from_another_rank_is_waiting) {
  for (int i = 0; i < 5; ++i) submit(kPlain);
  EXPECT_EQ(run(kMaxEvents, 2), 2u);
  EXPECT_EQ(pool_.state().lendable, 3u);
}

TEST_F(Batches, contain_tasks_of_one_function_only) {
  for (const auto function : {kPlain, kPlain, kOther, kPlain}) submit(function);
  EXPECT_EQ(run(), 2u);
  EXPECT_EQ(run(), 1u);
  EXPECT_EQ(run(), 1u);
}

TEST_F(Batches, end_after_a_task_whose_result_must_be_reported_immediately) {
  bool told = false;
  submit(kPlain);
  submit(kPlain, [&] { told = true; });
  submit(kPlain);
  EXPECT_EQ(run(), 1u);
  EXPECT_FALSE(told);
  EXPECT_EQ(run(), 1u);
  EXPECT_TRUE(told);
  EXPECT_EQ(run(), 1u);
}

TEST_F(Batches, end_after_a_child_task_because_its_parent_may_be_waiting_for_it) {
  submit(kParent);
  EXPECT_EQ(run(), 1u);
  EXPECT_EQ(run(), 1u);
  EXPECT_EQ(run(), 1u);
  EXPECT_TRUE(pool_.state().idle());
}

TEST_F(Batches, the_pool_reports_unequal_tasks_if_one_takes_more_than_twice_as_long_as_another) {
  submit(kPlain);
  submit(kOther);
  pool_.learn_time(kPlain, 1, 1);
  for (const double other_s : {1.9, 2.1}) {
    for (int i = 0; i < 1000; ++i) pool_.learn_time(kOther, other_s, 1);
    EXPECT_EQ(pool_.state().tasks_differ, other_s > 2);
  }
}

TEST_F(Batches, end_after_a_failed_task_and_leave_its_run_time_out_of_time_estimates) {
  for (int i = 0; i < 3; ++i) submit(kFails);
  EXPECT_EQ(run(), 1u);
  EXPECT_EQ(run(), 1u);
  EXPECT_EQ(pool_.take_failures().size(), 2u);
  EXPECT_EQ(pool_.times().per_unit(kFails), 0);
}

/// Calls `what` in a thread with a stack of 1 MiB.
void call_on_small_stack(std::function<void()> what) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  const auto call = [](void* function) -> void* {
    (*static_cast<std::function<void()>*>(function))();
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &what), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// Each task waits for a child, and meanwhile runs other tasks from the pool.
class NestedWaits : public ::testing::Test {
 protected:
  enum : std::uint32_t { kChild, kWaits, kOther, kCounts, kDives, kSpins, kHosts };

  std::unique_ptr<Task> task(std::uint32_t function) {
    auto made = TaskPool::blank();
    made->function = function;
    return made;
  }
  std::size_t run() {
    double now_s = wall_now_s();
    return pool_.run(now_s, 1, [] { return false; });
  }
  std::size_t run_borrowed(bool has_parent) {
    auto borrowed = task(kOther);
    borrowed->owner = 1;
    borrowed->has_parent = has_parent;
    pool_.accept_borrowed(std::move(borrowed));
    return run();
  }
  void wait_for_a_child() {
    ++depth_;
    deepest_ = std::max(deepest_, depth_);
    pool_.submit(task(kChild));
    while (run() > 0) {
    }
    if (!was_deep_) {
      was_deep_ = true;
      ran_other_when_deep_ = run_borrowed(false);
      ran_child_when_deep_ = run_borrowed(true);
    }
    --depth_;
  }

  // Waits for a child, and counts the running tasks before, during and after this wait.
  void count_running() {
    pool_.submit(task(kChild));
    num_running_.push_back(pool_.state().running);
    pool_.set_waiting(true);
    num_running_.push_back(pool_.state().running);
    run();
    pool_.set_waiting(false);
    num_running_.push_back(pool_.state().running);
  }

  // Submits a task of the same function, runs this task, and throws if the task has failed.
  void dive() {
    pool_.submit(task(kDives));
    run();
    const auto failures = pool_.take_failures_of(*pool_.children());
    if (!failures.empty()) throw std::runtime_error("my child: " + failures[0].text);
  }

  // Works for 1 ms.
  void spin() {
    const double begin_s = wall_now_s();
    while (wall_now_s() < begin_s + 1e-3) {
    }
    spun_s_ += wall_now_s() - begin_s;
  }

  // Waits while a child works, as Runtime::wait_for_children() does.
  void host() {
    pool_.submit(task(kSpins));
    const double begin_s = wall_now_s();
    run();
    pool_.add_waited(wall_now_s() - begin_s);
  }

  double spun_s_ = 0;
  std::vector<std::size_t> num_running_;
  std::size_t depth_ = 0, deepest_ = 0, ran_other_when_deep_ = 9, ran_child_when_deep_ = 9;
  bool was_deep_ = false;
  const Registered functions_[7] = {
      {"child", "", [](std::span<const Item>) {}},
      {"waits", "", [this](std::span<const Item>) { wait_for_a_child(); }},
      {"other", "", [](std::span<const Item>) {}},
      {"counts", "", [this](std::span<const Item>) { count_running(); }},
      {"dives", "", [this](std::span<const Item>) { dive(); }},
      {"spins", "", [this](std::span<const Item>) { spin(); }},
      {"hosts", "", [this](std::span<const Item>) { host(); }}};
  TaskPool pool_{0,
                 {functions_, functions_ + 1, functions_ + 2, functions_ + 3, functions_ + 4,
                  functions_ + 5, functions_ + 6}};
};

TEST_F(NestedWaits,
       beyond_the_nesting_limit_a_wait_runs_borrowed_child_tasks_but_no_other_borrowed_tasks) {
  for (unsigned i = 0; i < 3 * tuning::kMaxNestedWaits; ++i) pool_.submit(task(kWaits));
  while (run() > 0) {
  }
  EXPECT_EQ(deepest_, tuning::kMaxNestedWaits + 1);
  EXPECT_EQ(ran_other_when_deep_, 0u);
  EXPECT_EQ(ran_child_when_deep_, 1u);
}

TEST_F(NestedWaits, a_task_that_waits_for_its_children_does_not_count_as_running) {
  pool_.submit(task(kCounts));
  run();
  EXPECT_EQ(num_running_, (std::vector<std::size_t>{1, 0, 1}));
}

TEST_F(NestedWaits,
       a_task_that_runs_inside_the_wait_of_another_task_counts_once_in_the_working_time) {
  const double begin_s = wall_now_s();
  pool_.submit(task(kHosts));
  run();
  const double passed_s = wall_now_s() - begin_s, working_s = pool_.counters().working_s;
  EXPECT_GE(working_s, spun_s_);
  EXPECT_LE(working_s, passed_s);
}

TEST_F(NestedWaits, a_task_fails_if_it_would_overflow_the_stack_of_its_thread) {
  pool_.submit(task(kDives));
  call_on_small_stack([&] { run(); });
  const std::vector<Failure> failures = pool_.take_failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures[0].text, testing::StartsWith("my child: my child: "));
  EXPECT_THAT(failures[0].text,
              testing::HasSubstr("the stack of a thread is nearly full, because"));
  EXPECT_LT(failures[0].text.size(), tuning::kMaxErrorBytes + 10);
  EXPECT_TRUE(pool_.state().idle());
}

}  // namespace
}  // namespace poise::tasks
