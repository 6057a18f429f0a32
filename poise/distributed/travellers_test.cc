// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/travellers.h"

#include <gtest/gtest.h>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/distributed/split_testing.h"

namespace poise {
namespace {

/// Checks that the view of the rank lists exactly the tasks that `after` assigns to it.
void expect_view(const Problem& problem, const Placement& after, std::uint32_t rank,
                 const OwnTasks& view) {
  const Workload& workload = problem.workload;
  std::map<std::uint64_t, TaskId> task_of;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) task_of[id_of(t)] = t;
  EXPECT_EQ(view.num_tasks(), static_cast<std::size_t>(std::ranges::count(after.places(), rank)));
  ASSERT_EQ(view.first.size(), view.ids.size() + 1);
  for (std::uint32_t i = 0; i < view.num_tasks(); ++i) {
    const TaskId t = task_of.at(view.ids[i]);
    EXPECT_EQ(after.of(t), rank);
    EXPECT_EQ(view.load_s[i], workload.tasks[t].load_s);
    EXPECT_EQ(view.bytes[i], problem.current.of(t) == rank ? workload.tasks[t].bytes : 0);
    EXPECT_EQ(view.pinned[i], workload.tasks[t].movable ? 0 : 1);
    std::uint64_t entry = view.first[i];
    for (const Message& message : workload.messages) {
      if (message.from != t) continue;
      ASSERT_LT(entry, view.first[i + 1]);
      EXPECT_EQ(view.to[entry], id_of(message.to));
      EXPECT_EQ(view.to_rank[entry], after.of(message.to));
      EXPECT_EQ(view.counts[entry], message.count);
      EXPECT_EQ(view.message_bytes[entry], message.bytes);
      ++entry;
    }
    EXPECT_EQ(entry, view.first[i + 1]);
  }
  EXPECT_EQ(view.background_s, workload.background_s.empty() ? 0 : workload.background_s[rank]);
}

TEST(Travellers, each_target_learns_which_tasks_arrive_and_each_owner_learns_where_its_tasks_go) {
  for (std::uint64_t seed = 0; seed < fewer_if_sanitized(40); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const OwnedProblem owned = random_problem(random);
    const Problem problem = owned.view();
    const TaskId num_tasks = problem.workload.num_tasks();
    // The placements after the first, the second and the last decision.
    std::vector<Placement> after(3, problem.current);
    for (Placement& placement : after)
      for (TaskId t = 0; t < num_tasks; ++t)
        placement.move(t, random.below(problem.machine.num_places()));
    std::map<std::uint64_t, TaskId> task_of;
    for (TaskId t = 0; t < num_tasks; ++t) task_of[id_of(t)] = t;
    const std::vector<OwnArrays> own = split(problem);
    SimulatedRanks(own.size()).run([&](const poise_communication& table) {
      Communicator ranks(table);
      const auto targets = [&](const OwnTasks& tasks, const Placement& placement) {
        std::vector<std::uint32_t> result;
        for (const std::uint64_t id : tasks.ids) result.push_back(placement.of(task_of.at(id)));
        return result;
      };
      const OwnTasks home = own[table.rank].view(seed % 2 == 0);
      const OwnGraph graph(ranks, home);
      const Travellers once =
          Travellers::moved(ranks, home, graph, targets(home, after[0]), nullptr);
      const OwnTasks first = once.view();
      expect_view(problem, after[0], table.rank, first);
      const OwnGraph next(ranks, first);
      const Travellers twice =
          Travellers::moved(ranks, first, next, targets(first, after[1]), &once);
      expect_view(problem, after[1], table.rank, twice.view());
      EXPECT_EQ(once.told_home(ranks, targets(first, after[2]), home.num_tasks()),
                targets(home, after[2]));
      EXPECT_EQ(twice.told_home(ranks, targets(twice.view(), after[2]), home.num_tasks()),
                targets(home, after[2]));
    });
  }
}

TEST(Travellers, tasks_with_no_messages_and_no_bytes_travel_as_well) {
  SimulatedRanks(2).run([](const poise_communication& table) {
    Communicator ranks(table);
    const std::vector<std::uint64_t> ids{10 + table.rank};
    const std::vector<double> load_s{2.0 + table.rank};
    OwnTasks home;
    home.ids = ids;
    home.load_s = load_s;
    const OwnGraph graph(ranks, home);
    const Travellers moved = Travellers::moved(ranks, home, graph, {1 - table.rank}, nullptr);
    const OwnTasks view = moved.view();
    ASSERT_EQ(view.num_tasks(), 1u);
    EXPECT_EQ(view.ids[0], 11 - table.rank);
    EXPECT_EQ(view.load_s[0], 3.0 - table.rank);
    EXPECT_EQ(view.bytes[0], 0u);
    EXPECT_EQ(view.pinned[0], 0);
    EXPECT_TRUE(view.to.empty());
  });
}

}  // namespace
}  // namespace poise
