// SPDX-License-Identifier: BSD-3-Clause
// Tests of annotations of tasks. All ranks run each test.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <mpi.h>
#include <string>
#include <thread>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

// Returns the number that annotates the current task, after checking the other annotations.
const auto kLook = function("look at annotations", [](int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
  const Annotations& mine = Context::current().self().annotations;
  const auto* index = mine.get<std::int64_t>("index");
  const auto* half = mine.get<double>("half");
  const auto* text = mine.get<std::string>("text");
  if (mine.empty()) return -1;
  if (!index || !half || !text || mine.get<double>("index") || mine.has("none")) return -2;
  const auto number = static_cast<int>(*index);
  return *half == number / 2.0 && *text == std::string(100, 'a') + std::to_string(number) ? number
                                                                                          : -3;
});
const auto kHome = function("home", [] {
  const Self self = Context::current().self();
  return static_cast<int>(self.home) + (self.replicated ? 1000 : 0);
});

Annotations with_index(int index) {
  Annotations annotations{{"index", index}, {"half", index / 2.0}};
  annotations.set("text", "replaced");
  annotations.set("text", std::string(100, 'a') + std::to_string(index));
  return annotations;
}

// Every second task of rank 0 has annotations and checks that it sees them.
void check_what_tasks_see(Policy policy, const std::string& settings,
                          const std::vector<std::uint32_t>& replicas) {
  Context context(MPI_COMM_WORLD, {.settings = settings, .policy = std::move(policy)});
  std::vector<Future<int>> seen;
  if (context.rank() == 0) keep_threads_until_one_has_left(context);
  for (int t = 0; t < 60 && context.rank() == 0; ++t) {
    With with = says_when_it_leaves();
    with.replicas = replicas;
    if (t % 2) with.annotations = with_index(t);
    seen.push_back(context.submit(std::move(with), kLook, 200));
  }
  context.wait();
  EXPECT_TRUE(enough_have_left() || context.rank() > 0);
  for (int t = 0; t < 60 && context.rank() == 0; ++t)
    EXPECT_EQ(seen[static_cast<std::size_t>(t)].get(), t % 2 ? t : -1);
}

TEST(Annotations, a_rank_that_borrows_a_task_also_receives_its_annotations) {
  Policy policy;
  policy.decide = [](const LendingView& view) {
    return std::vector<Loan>{{view.others.back().rank, 60, {}}};
  };
  check_what_tasks_see(policy, "progress_thread=off", {});
}

TEST(Annotations, every_replica_of_a_task_sees_the_annotations_of_the_task) {
  std::vector<std::uint32_t> all;
  for (int rank = 0; rank < count_ranks(); ++rank) all.push_back(static_cast<std::uint32_t>(rank));
  check_what_tasks_see({}, "policy=none,progress_thread=off", all);
  check_what_tasks_see({}, "policy=none,progress_thread=off,shared_bytes=0", all);
}

TEST(Annotations, the_lending_policy_sees_the_annotations_of_queued_tasks) {
  std::atomic<bool> all_right{true};
  Policy policy;
  policy.sees_queue = true;
  policy.decide = [&](const LendingView& view) {
    std::vector<Loan> loans;
    for (const QueuedTask& task : view.queue) {
      const auto* index = task.annotations ? task.annotations->get<std::int64_t>("index") : nullptr;
      if (!task.borrowed && (index ? *index : 0) != static_cast<std::int64_t>(task.name))
        all_right = false;
      if (index && !task.borrowed) loans.push_back({view.others.front().rank, 1, {task.name}});
    }
    return loans;
  };
  Context context(MPI_COMM_WORLD, {.settings = "progress_thread=off", .policy = policy});
  if (context.rank() == 0) keep_threads_until_one_has_left(context);
  for (int t = 1; t < 60 && context.rank() == 0; ++t) {
    With with = says_when_it_leaves();
    if (t % 3 == 0) with.annotations = {{"index", t}};
    with.name = t % 3 == 0 ? static_cast<std::uint64_t>(t) : 0;
    context.submit(std::move(with), kLook, 200);
  }
  context.wait();
  EXPECT_TRUE(all_right);
  EXPECT_TRUE(enough_have_left() || context.rank() > 0);
}

TEST(Self, reports_the_owner_rank_of_a_task_and_whether_the_task_is_replicated) {
  Context context(MPI_COMM_WORLD, {});
  const auto plain = context.submit(kHome);
  With with;
  const auto other = (context.rank() + 1) % context.num_ranks();
  with.replicas = {other};
  const auto copied = context.submit(std::move(with), kHome);
  context.wait();
  const auto rank = static_cast<int>(context.rank());
  EXPECT_EQ(plain.get(), rank);
  EXPECT_EQ(copied.get(), rank + (context.num_ranks() > 1 ? 1000 : 0));
  EXPECT_THROW(context.self(), Error);
}

}  // namespace
}  // namespace poise::tasks
