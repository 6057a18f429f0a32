// SPDX-License-Identifier: BSD-3-Clause
// Tests of lending policies that the program itself defines. All ranks run each test.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <mpi.h>
#include <stdexcept>
#include <thread>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {

Policy all_to_the_last_rank() {
  Policy policy;
  policy.decide = [](const LendingView& view) {
    const auto last = static_cast<std::uint32_t>(view.load_of_rank.size() - 1);
    return std::vector<Loan>{{last, view.queued, {}}};
  };
  return policy;
}

namespace {

const auto kWhere = function("where", [](int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
  return static_cast<int>(Context::current().rank());
});

struct Job {
  int rank = 0, num_ranks = 1;
  // For each task, the rank that ran it. Tasks are named 100, 101, ... Filled on rank 0 only.
  std::vector<int> ran_on;
};

Job run(Policy policy, int num_tasks = 150, std::string settings = "min_gain=0") {
  Context context(MPI_COMM_WORLD, {.settings = std::move(settings), .policy = std::move(policy)});
  std::vector<Future<int>> results;
  for (int t = 0; t < num_tasks && context.rank() == 0; ++t) {
    With with;
    with.name = 100 + static_cast<unsigned>(t);
    results.push_back(context.submit(std::move(with), kWhere, 500));
  }
  context.wait();
  Job job{static_cast<int>(context.rank()), static_cast<int>(context.num_ranks()), {}};
  for (const auto& result : results) job.ran_on.push_back(result.get());
  return job;
}

TEST(Policy, decides_how_many_tasks_to_lend_and_to_which_rank) {
  // This policy lends everything to the last rank, three tasks at a time.
  std::atomic<int> decisions{0};
  Policy policy;
  policy.decide = [&](const LendingView& view) {
    ++decisions;
    EXPECT_TRUE(view.queue.empty());
    const auto last = static_cast<std::uint32_t>(view.load_of_rank.size() - 1);
    return std::vector<Loan>{{last, 3, {}}};
  };
  EXPECT_TRUE(happens_in_some_round([&] {
    const Job job = run(policy);
    int away = 0;
    for (const int rank : job.ran_on) {
      EXPECT_TRUE(rank == 0 || rank == job.num_ranks - 1);
      away += rank > 0;
    }
    return job.rank > 0 || job.num_ranks == 1 || (decisions > 0 && away >= 3);
  }));
}

TEST(Policy, decides_which_tasks_to_lend) {
  Policy policy;
  policy.sees_queue = true;
  policy.decide = [](const LendingView& view) {
    std::vector<Loan> loans;
    for (const QueuedTask& task : view.queue)
      if (task.borrowed)
        EXPECT_EQ(task.name % 7, 3u) << "another one was lent";
      else if (task.name % 7 == 3)
        loans.push_back({view.others.front().rank, 1, {task.name}});
    return loans;
  };
  EXPECT_TRUE(happens_in_some_round([&] {
    const Job job = run(policy);
    int away = 0;
    for (std::size_t t = 0; t < job.ran_on.size(); ++t) {
      away += job.ran_on[t] > 0;
      EXPECT_TRUE(job.ran_on[t] == 0 || (100 + t) % 7 == 3) << t;
    }
    return job.rank > 0 || (away > 0) == (job.num_ranks > 1);
  }));
}

TEST(Policy, a_policy_sees_the_loads_that_other_ranks_report) {
  std::atomic<bool> seen{false};
  Policy policy;
  policy.load = [](const LendingView& view) { return 1000.0 * (view.rank + 1) + view.queued; };
  policy.decide = [&](const LendingView& view) {
    for (std::size_t rank = 1; rank < view.load_of_rank.size(); ++rank)
      if (view.rank == 0 && view.load_of_rank[rank] == 1000.0 * static_cast<double>(rank + 1))
        seen = true;
    return std::vector<Loan>{};
  };
  EXPECT_TRUE(happens_in_some_round([&] {
    const Job job = run(policy);
    for (const int rank : job.ran_on) EXPECT_EQ(rank, 0);
    return seen == (job.rank == 0 && job.num_ranks > 1);
  }));
}

// Polls for messages, submits a task, and polls again, so that this task is queued during polls.
const auto kSubmitBetweenPolls = function("submit between polls", [](int polls) {
  for (int i = 0; i < 2 * polls; ++i) {
    if (i == polls) Context::current().submit(kWhere, 0);
    Context::current().poll();
    std::this_thread::sleep_for(std::chrono::microseconds(20));  // leaves the core to other ranks
  }
});

// Returns whether this rank saw the load of rank 0 when it chose replicas. Rank 0 has a task in its
// queue from the start. The other ranks get one later, when rank 0 has probably published its load.
// No task is lent, so no message carries loads: ranks of one node read the loads of other ranks in
// shared memory.
bool sees_the_load_of_rank_0() {
  std::atomic<bool> seen{false};
  Policy policy;
  policy.load = [](const LendingView& view) { return 1000.0 * (view.rank + 1) + view.queued; };
  policy.replicate = [&](const LendingView& view) {
    EXPECT_EQ(view.load_of_rank[view.rank], 1000.0 * (view.rank + 1) + view.queued);
    seen = view.load_of_rank[0] >= 1000;
    return std::vector<Replication>{};
  };
  Context context(MPI_COMM_WORLD, {.settings = "policy=none", .policy = std::move(policy)});
  context.submit({.priority = 1, .pinned = true}, kSubmitBetweenPolls, 100);
  if (context.rank() == 0) context.submit(kWhere, 0);
  meet();
  context.wait();
  return seen;
}

TEST(Policy, can_define_its_own_unit_of_load_and_choose_replicas_by_the_loads_of_all_ranks) {
  if (!on_one_node()) GTEST_SKIP() << "ranks are on several nodes";
  EXPECT_TRUE(
      happens_in_some_round([] { return sees_the_load_of_rank_0() || count_ranks() == 1; }));
}

// Returns whether all functions of the policy saw another rank. Checks that they see the learnt
// times and the loads.
bool all_functions_see_another_rank() {
  std::atomic<bool> is_timed{false};
  std::atomic<int> others_seen[3] = {};
  const auto look = [&](const LendingView& view, int function) {
    if (!is_timed || view.queued == 0) return;
    EXPECT_GT(view.task_s, 0) << function;
    EXPECT_GT(view.lend_s, 0) << function;
    EXPECT_EQ(view.load_of_rank.size(), static_cast<std::size_t>(count_ranks())) << function;
    EXPECT_EQ(view.queue.size(), view.queued) << function;
    others_seen[function] += view.others.size();
  };
  Policy policy{.sees_queue = true};
  policy.decide = [&](auto& view) { return look(view, 0), std::vector<Loan>{}; };
  policy.load = [&](auto& view) { return look(view, 1), 1.0; };
  policy.replicate = [&](auto& view) { return look(view, 2), std::vector<Replication>{}; };
  Context context(MPI_COMM_WORLD, {.policy = std::move(policy)});
  context.submit({.pinned = true}, kWhere, 500);
  context.wait();
  is_timed = true;
  context.submit({.pinned = true}, kSubmitBetweenPolls, 100);
  context.wait();
  return others_seen[0] > 0 && others_seen[1] > 0 && others_seen[2] > 0;
}

TEST(Policy,
     all_functions_of_a_policy_see_times_and_loads_and_the_queue_and_the_ranks_that_may_borrow) {
  EXPECT_TRUE(
      happens_in_some_round([] { return all_functions_see_another_rank() || count_ranks() == 1; }));
}

// Returns whether a decision of rank 0 saw another rank with tasks. Checks that such a rank has a
// busy time above 0.
bool sees_a_busy_rank() {
  std::atomic<bool> seen{false};
  Policy policy;
  policy.decide = [&](const LendingView& view) {
    for (const Borrower& other : view.others) {
      if (view.rank > 0 || view.load_of_rank[other.rank] <= 0) continue;
      EXPECT_GT(other.busy_s, 0);
      seen = true;
    }
    return std::vector<Loan>{};
  };
  Context context(MPI_COMM_WORLD, {.policy = std::move(policy)});
  if (context.rank() == 0) context.submit(kWhere, 500);  // so that rank 0 has timed this function
  context.wait();
  for (int t = 0; t < 200; ++t) context.submit(kWhere, 500);
  context.wait();
  return seen;
}

// Several rounds may be necessary: on a busy machine, rank 0 may finish its tasks before it
// receives the load of another rank. Each round has a new context, in which the other ranks have
// not yet measured any run times.
TEST(Policy, a_policy_sees_that_a_rank_is_busy_even_if_that_rank_has_not_yet_timed_any_task) {
  EXPECT_TRUE(happens_in_some_round(
      [] { return sees_a_busy_rank() == (own_rank() == 0 && count_ranks() > 1); }));
}

// In the first wait rank 0 learns that a task of this function takes 1 ms. The tasks that it lends
// later take 20 times as long, because they wait for children.
const auto kNested = function("nested", [](int children) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int child = 0; child < children; ++child)
    Context::current().submit(With{.pinned = true}, kWhere, 1000);
  Context::current().wait();
});

TEST(Policy, tasks_that_wait_for_their_children_do_not_make_a_rank_look_slow) {
  std::atomic<double> slowness{0};
  Policy policy;
  policy.decide = [&](const LendingView& view) {
    for (const Borrower& other : view.others) slowness = std::max(slowness.load(), other.slowness);
    return std::vector<Loan>{{1, 1, {}}};
  };
  Context context(MPI_COMM_WORLD, {.policy = policy});
  for (int wait = 0; wait < 3; ++wait) {
    for (int t = 0; t < 8 && context.rank() == 0; ++t)
      context.submit(With{.pinned = wait == 0}, kNested, wait == 0 ? 0 : 20);
    context.wait();
  }
  EXPECT_LE(slowness, 1);
}

TEST(Policy, the_first_exception_of_each_policy_function_is_printed_and_the_job_continues) {
  const auto fail = [](const LendingView&) { throw std::runtime_error("it rains"); };
  std::map<std::string, Policy> policies;
  policies["decide failed, so nothing was lent"].decide = [&](auto& view) {
    fail(view);
    return std::vector<Loan>{};
  };
  policies["load failed, so this rank reports its previous load"].load = [&](auto& view) {
    fail(view);
    return 0.0;
  };
  policies["replicate failed, so no further task was replicated in this wait"].replicate =
      [&](auto& view) {
        fail(view);
        return std::vector<Replication>{};
      };
  for (const auto& [says, policy] : policies) {
    testing::internal::CaptureStderr();
    const Job job = run(policy);
    const std::string printed = testing::internal::GetCapturedStderr();
    if (job.rank == 0 && job.num_ranks > 1) {
      EXPECT_EQ(printed, "poise: rank 0: Policy::" + says + ": it rains\n");
    }
    if (job.rank == 0) {
      EXPECT_EQ(job.ran_on.size(), 150u);
    }
  }
}

TEST(Policy, no_task_is_lent_if_a_policy_throws_or_names_unknown_ranks_or_tasks) {
  Policy failing, wrong;
  failing.decide = [](const LendingView&) -> std::vector<Loan> {
    throw std::runtime_error("I cannot decide");
  };
  wrong.decide = [](const LendingView& view) {
    return std::vector<Loan>{{1000, 5, {}}, {view.rank, 5, {}}, {view.others[0].rank, 1, {7}}};
  };
  for (const Policy& policy : {failing, wrong})
    for (const int rank : run(policy).ran_on) EXPECT_EQ(rank, 0);
}

TEST(Policy, the_user_can_turn_off_the_policy_of_the_program_by_a_setting) {
  Policy policy;
  policy.decide = [](const LendingView&) -> std::vector<Loan> { return {{1, 5, {}}}; };
  for (const int rank : run(policy, 20, "policy=none").ran_on) EXPECT_EQ(rank, 0);
}

}  // namespace
}  // namespace poise::tasks
