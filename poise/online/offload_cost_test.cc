// SPDX-License-Identifier: BSD-3-Clause

#include <gmock/gmock.h>

#include "poise/online/lending_tuning.h"
#include "poise/online/offload_policy.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A lender and the idle ranks 1, 2, ..., each with the given number of threads.
struct Scene {
  explicit Scene(const std::vector<double>& threads) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      problem.others.push_back(
          {.rank = static_cast<std::uint32_t>(i + 1), .threads = threads[i], .asks = true});
      problem.known.emplace_back();
    }
  }
  std::vector<Loan> loans(double now_s = 1) {
    problem.view.others = problem.others;
    problem.view.queued = static_cast<std::uint32_t>(queue.lendable);
    problem.view.task_s = queue.mean_s();
    problem.view.lend_s = costs.overhead_s(queue, queue.mean_bytes());
    return offload_policy("cost").loans({.problem = problem,
                                         .queue = queue,
                                         .costs = costs,
                                         .now_s = now_s,
                                         .min_gain = 0.1,
                                         .named_queue = named_queue},
                                        memory);
  }
  LoanProblem problem;
  QueueState queue;
  LendingCosts costs;
  OffloadMemory memory;
  std::function<std::vector<QueuedTask>()> named_queue = [] { return std::vector<QueuedTask>{}; };
};

// Tasks of unknown time, each of which takes nearly 100 us to lend.
Scene unknown_times(const std::vector<double>& threads, std::size_t lendable, std::size_t running) {
  Scene scene(threads);
  scene.queue.all_times_known = false;
  scene.queue.queued = scene.queue.lendable = lendable;
  scene.queue.running = running;
  scene.problem.view.threads = 4;
  for (int i = 0; i < 1000; ++i) scene.costs.packing.learn(8, 0, 8 * 99e-6);
  return scene;
}

TEST(OffloadCost, each_idle_rank_gets_as_many_tasks_of_unknown_time_as_it_has_threads) {
  EXPECT_THAT(unknown_times({2, 3, 1}, 40, 4).loans(),
              ElementsAre(Loan{1, 2}, Loan{2, 3}, Loan{3, 1}));
  // The lender keeps a task for each of its four threads.
  EXPECT_THAT(unknown_times({2, 3, 1}, 8, 4).loans(), ElementsAre(Loan{1, 2}, Loan{2, 2}));
  EXPECT_THAT(unknown_times({2, 3, 1}, 4, 4).loans(), IsEmpty());
  Scene pinned = unknown_times({2, 3, 1}, 8, 4);
  pinned.queue.queued = 11;  // three tasks that cannot be lent will occupy threads
  EXPECT_THAT(pinned.loans(), ElementsAre(Loan{1, 2}, Loan{2, 3}, Loan{3, 1}));
}

TEST(OffloadCost, tasks_of_unknown_time_go_only_to_idle_ranks_that_ask) {
  Scene scene = unknown_times({2, 3, 1, 1}, 40, 4);
  scene.problem.others[0].asks = false;
  scene.problem.known[1].queued = 1;
  scene.problem.known[2].in_flight = 1;
  EXPECT_THAT(scene.loans(), ElementsAre(Loan{4, 1}));
}

TEST(OffloadCost, idle_ranks_get_more_tasks_of_unknown_time_the_longer_the_running_tasks_have_run) {
  Scene scene = unknown_times({1, 1}, 40, 4);
  scene.queue.running_s = 4 * 0.65e-3;  // in the 0.65 ms so far, six tasks could be lent
  EXPECT_THAT(scene.loans(), ElementsAre(Loan{1, 3}, Loan{2, 3}));
  scene.queue.running_s = 1;
  EXPECT_THAT(scene.loans(), ElementsAre(Loan{1, 20}, Loan{2, 20})) << "it keeps none";
  scene.queue.running = 3;
  EXPECT_THAT(scene.loans(), ElementsAre(Loan{1, 19}, Loan{2, 19})) << "one thread needs a task";
  scene.queue.running_s = 0;  // a task is about to start; two tasks can be lent in kNewsDelay_s
  scene.problem.others.pop_back();
  scene.problem.known.pop_back();
  scene.queue.lendable = scene.queue.queued = 7;
  EXPECT_THAT(scene.loans(), ElementsAre(Loan{1, 2}));
  scene.queue.running = 4;
  EXPECT_THAT(scene.loans(), ElementsAre(Loan{1, 1}));
}

TEST(OffloadCost,
     unequal_tasks_are_chosen_individually_if_they_are_few_and_lending_could_save_time) {
  Scene scene({1});
  scene.queue.queued = scene.queue.lendable = 3;
  scene.queue.queued_s = 8;
  scene.queue.tasks_differ = true;
  int asked = 0;
  scene.named_queue = [&] {
    ++asked;
    return std::vector<QueuedTask>{
        {.name = 7, .task_s = 2}, {.name = 8, .task_s = 5}, {.name = 9, .task_s = 1}};
  };
  EXPECT_THAT(scene.loans(), ElementsAre(Loan{1, 2, {7, 9}}));
  scene.problem.others[0].busy_s = 7.9;
  EXPECT_THAT(scene.loans(), IsEmpty());
  EXPECT_EQ(asked, 1) << "nothing can be gained";
  scene.problem.others[0].busy_s = 0;
  scene.queue.tasks_differ = false;
  EXPECT_THAT(scene.loans(), ElementsAre(Loan{1, 2}));
  scene.queue.tasks_differ = true;
  scene.queue.queued = scene.queue.lendable = lending_tuning::kMaxTasksBySize + 1;
  EXPECT_EQ(scene.loans().at(0).names.size(), 0u);
  EXPECT_EQ(asked, 1);
  --scene.queue.lendable;
  scene.loans();
  EXPECT_EQ(asked, 2);
}

// A task runs for 1 ms on the lender and for 3 ms on rank 1. Lending a task costs the lender 2 ms.
// So a loan of eight tasks wastes 8 * (2 + 3 - 1) ms = 32 ms, which is a hundredth of 3.2 s.
TEST(OffloadCost, exploratory_loans_waste_at_most_a_hundredth_of_the_time) {
  Scene scene({1});
  scene.queue.queued = scene.queue.lendable = 1000;
  scene.queue.queued_s = 1000 * 1e-3;
  scene.problem.others[0].slowness = 3;
  for (int i = 0; i < 1000; ++i) scene.costs.packing.learn(8, 0, 8 * (2e-3 - 0.2e-6));
  EXPECT_THAT(scene.loans(10), IsEmpty());
  EXPECT_THAT(scene.loans(13.19), IsEmpty());
  EXPECT_THAT(scene.loans(13.21), ElementsAre(Loan{1, 8}));
  EXPECT_THAT(scene.loans(16.40), IsEmpty());
  EXPECT_THAT(scene.loans(16.42), ElementsAre(Loan{1, 8}));
}

TEST(OffloadCost, considers_an_exploratory_loan_at_most_once_per_millisecond) {
  Scene scene({1});
  scene.queue.queued = scene.queue.lendable = 1000;
  scene.queue.queued_s = 1000 * 1e-3;
  for (int i = 0; i < 1000; ++i) scene.costs.packing.learn(8, 0, 8 * 2e-3);
  EXPECT_THAT(scene.loans(10), IsEmpty());
  EXPECT_DOUBLE_EQ(scene.memory.next_exploration_s, 10 + lending_tuning::kMaxPause_s);
  EXPECT_EQ(scene.memory.explored_s, 10);
  scene.loans(10.0005);
  EXPECT_DOUBLE_EQ(scene.memory.next_exploration_s, 10 + lending_tuning::kMaxPause_s);
  scene.loans(10.002);
  EXPECT_DOUBLE_EQ(scene.memory.next_exploration_s, 10.002 + lending_tuning::kMaxPause_s);
  EXPECT_EQ(scene.memory.explored_s, 10) << "nothing was lent";
}

}  // namespace
}  // namespace poise
