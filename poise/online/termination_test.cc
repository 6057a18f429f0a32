// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/termination.h"

#include <algorithm>
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

// Simulated ranks. Their tasks submit further tasks and are lent to other ranks. Messages take
// random times, but those between two ranks stay in order, as in MPI.
class World {
 public:
  World(std::uint32_t n, std::uint32_t per_node, std::uint64_t seed)
      : random_(seed), created_(n), finished_(n), waits_(n), has_(n) {
    for (std::uint32_t rank = 0; rank < n; ++rank)
      ranks_.emplace_back(termination_tree(rank, n, per_node));
    links_.resize(n * n);
  }

  void submit(std::size_t rank, int generations) {
    ++created_[rank];
    has_[rank].push_back({rank, generations});
    ++unfinished_;
  }
  void enter(std::size_t rank) {
    std::vector<TerminationMessage> out;
    ranks_[rank].enter(out);
    waits_[rank] = true;
    post(rank, out);
  }
  // Simulates one random event. Returns false when the wait has ended on all ranks.
  bool step() {
    const std::size_t rank = random_.below(ranks_.size());
    switch (random_.below(3)) {
      case 0: receive(); break;
      case 1: work(rank); break;
      case 2: idle(rank); break;
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (!waits_[r] || !ranks_[r].done()) return true;
    return false;
  }
  int unfinished() const { return unfinished_; }
  bool entered(std::size_t rank) const { return waits_[rank]; }
  void leave() { waits_.assign(waits_.size(), false); }
  bool any_done() const {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (waits_[r] && ranks_[r].done()) return true;
    return false;
  }

 private:
  struct Task {
    std::size_t home;
    int generations;
  };
  struct Envelope {
    enum { wave, loan, result } what;
    std::size_t from;
    TerminationMessage message;
    Task task;
  };
  void post(std::size_t from, const std::vector<TerminationMessage>& out) {
    for (const TerminationMessage& message : out)
      links_[from * ranks_.size() + message.to].push_back({Envelope::wave, from, message, {}});
  }
  void receive() {
    const std::size_t link = random_.below(links_.size());
    if (links_[link].empty()) return;
    const Envelope envelope = links_[link].front();
    const std::size_t to = link % ranks_.size();
    links_[link].pop_front();
    std::vector<TerminationMessage> out;
    switch (envelope.what) {
      case Envelope::wave:
        ranks_[to].handle(static_cast<std::uint32_t>(envelope.from), envelope.message, out);
        break;
      case Envelope::loan: has_[to].push_back(envelope.task); break;
      case Envelope::result: ++finished_[to], --unfinished_; break;
    }
    post(to, out);
  }
  void work(std::size_t rank) {
    if (!waits_[rank] || has_[rank].empty()) return;
    const Task task = has_[rank].front();
    has_[rank].pop_front();
    const std::size_t other = random_.below(ranks_.size());
    if (random_.below(2) && other != rank && waits_[other]) {
      links_[rank * ranks_.size() + other].push_back({Envelope::loan, rank, {}, task});
      return;
    }
    for (int child = 0; child < 2 && task.generations > 0; ++child)
      submit(rank, task.generations - 1);
    if (task.home == rank)
      ++finished_[rank], --unfinished_;
    else
      links_[rank * ranks_.size() + task.home].push_back({Envelope::result, rank, {}, task});
  }
  void idle(std::size_t rank) {
    if (!waits_[rank] || !has_[rank].empty() || ranks_[rank].done()) return;
    std::vector<TerminationMessage> out;
    ranks_[rank].idle(created_[rank], finished_[rank], out);
    post(rank, out);
  }

  Random random_;
  std::vector<TerminationDetector> ranks_;
  std::vector<std::uint64_t> created_, finished_;
  std::vector<bool> waits_;
  std::vector<std::deque<Task>> has_;
  std::vector<std::deque<Envelope>> links_;
  int unfinished_ = 0;
};

TEST(TerminationDetector, detects_termination_if_and_only_if_no_task_is_unfinished) {
  for (std::uint64_t seed = 1; seed <= num_seeds(200); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::size_t n = 1 + random.below(9);
    World world(static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(1 + random.below(n)),
                seed);
    for (int wait = 0; wait < 3; ++wait) {
      for (std::size_t task = random.below(6); task > 0; --task)
        world.submit(random.below(n), static_cast<int>(random.below(5)));
      int steps = 0;
      bool more = true;
      while (more && ++steps < 200000) {
        const std::size_t rank = random.below(n);
        if (!world.entered(rank)) world.enter(rank);
        more = world.step();
        if (world.any_done()) {
          ASSERT_EQ(world.unfinished(), 0);
        }
      }
      ASSERT_FALSE(more) << "no end after " << steps << " steps";
      world.leave();
    }
  }
}

TEST(TerminationDetector, lists_the_parent_and_child_ranks_that_have_not_entered_the_wait_yet) {
  TerminationDetector root(termination_tree(0, 3, 1));
  std::vector<TerminationMessage> out;
  root.enter(out);
  EXPECT_THAT(root.missing(), testing::ElementsAre(1, 2));
  root.handle(2, {0, TerminationMessage::Kind::entered, 1}, out);
  EXPECT_THAT(root.missing(), testing::ElementsAre(1));
}

TEST(TerminationDetector, detects_termination_immediately_on_a_single_rank_without_tasks) {
  TerminationDetector wave(termination_tree(0, 1, 1));
  std::vector<TerminationMessage> out;
  wave.enter(out);
  wave.idle(5, 5, out);
  EXPECT_TRUE(wave.done());
  EXPECT_TRUE(out.empty());
}

TEST(TerminationDetector, does_not_end_the_wait_while_one_rank_has_an_unfinished_task) {
  TerminationDetector wave(termination_tree(0, 2, 1));
  std::vector<TerminationMessage> out;
  wave.enter(out);
  wave.handle(1, {0, TerminationMessage::Kind::report, 1, 1, 3, 2}, out);
  wave.idle(0, 0, out);
  EXPECT_FALSE(wave.done());
}

using Kind = TerminationMessage::Kind;

/// A message as a tuple: receiver, kind, wait, round, and the numbers of tasks.
using Numbers =
    std::tuple<std::uint32_t, Kind, std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t>;
std::vector<Numbers> sent(std::vector<TerminationMessage>& out) {
  std::vector<Numbers> numbers;
  for (const TerminationMessage& m : std::exchange(out, {}))
    numbers.emplace_back(m.to, m.kind, m.wait, m.round, m.created, m.finished);
  return numbers;
}

TEST(TerminationDetector, a_rank_reports_the_sums_of_its_subtree_and_passes_on_what_the_root_says) {
  TerminationDetector middle({.parent = 9, .children = {4, 6}});
  std::vector<TerminationMessage> out;
  EXPECT_TRUE(middle.done());
  middle.enter(out);
  EXPECT_EQ(middle.wait(), 1u);
  EXPECT_EQ(sent(out), (std::vector<Numbers>{{9, Kind::entered, 1, 0, 0, 0},
                                             {4, Kind::entered, 1, 1, 0, 0},
                                             {6, Kind::entered, 1, 1, 0, 0}}));
  middle.idle(5, 3, out);
  middle.handle(6, {9, Kind::report, 1, 1, 70, 50}, out);
  middle.idle(5, 3, out);
  middle.handle(4, {9, Kind::report, 1, 2, 1, 1}, out);  // of another round
  middle.idle(5, 3, out);
  EXPECT_TRUE(out.empty()) << "a child has not reported this round";
  middle.handle(4, {9, Kind::report, 1, 1, 200, 100}, out);
  middle.idle(6, 4, out);
  EXPECT_EQ(sent(out), (std::vector<Numbers>{{9, Kind::report, 1, 1, 276, 154}}));
  middle.idle(6, 4, out);
  EXPECT_TRUE(out.empty()) << "it reports once per round";
  middle.handle(9, {4, Kind::again, 1, 1}, out);
  EXPECT_EQ(sent(out),
            (std::vector<Numbers>{{4, Kind::again, 1, 1, 0, 0}, {6, Kind::again, 1, 1, 0, 0}}));
  middle.idle(6, 6, out);
  EXPECT_TRUE(out.empty());
  for (const std::uint32_t child : {4u, 6u})
    middle.handle(child, {9, Kind::report, 1, 2, 10, child}, out);
  middle.idle(6, 6, out);
  EXPECT_EQ(sent(out), (std::vector<Numbers>{{9, Kind::report, 1, 2, 26, 16}}));
  EXPECT_FALSE(middle.done());
  middle.handle(9, {4, Kind::done, 1, 2}, out);
  EXPECT_TRUE(middle.done());
  EXPECT_EQ(sent(out),
            (std::vector<Numbers>{{4, Kind::done, 1, 2, 0, 0}, {6, Kind::done, 1, 2, 0, 0}}));
  middle.enter(out);
  EXPECT_EQ(middle.wait(), 2u);
  EXPECT_EQ(std::get<2>(sent(out).at(1)), 2u);
  middle.idle(6, 6, out);
  EXPECT_TRUE(out.empty()) << "the reports of the last wait do not count";
}

TEST(TerminationDetector,
     the_root_repeats_rounds_until_as_many_tasks_were_created_as_had_finished_one_round_before) {
  TerminationDetector root({.parent = {}, .children = {3}});
  std::vector<TerminationMessage> out;
  root.enter(out);
  sent(out);
  const auto round = [&](std::uint32_t number, std::uint64_t created, std::uint64_t finished) {
    root.handle(3, {0, Kind::report, 1, number, created, finished}, out);
    root.idle(100, 100, out);
    return sent(out);
  };
  EXPECT_EQ(round(1, 7, 7), (std::vector<Numbers>{{3, Kind::again, 1, 1, 0, 0}}));
  EXPECT_EQ(round(2, 9, 8), (std::vector<Numbers>{{3, Kind::again, 1, 2, 0, 0}}));
  EXPECT_EQ(round(3, 9, 9), (std::vector<Numbers>{{3, Kind::again, 1, 3, 0, 0}}));
  EXPECT_FALSE(root.done());
  EXPECT_EQ(round(4, 9, 9), (std::vector<Numbers>{{3, Kind::done, 1, 4, 0, 0}}));
  EXPECT_TRUE(root.done());
  root.enter(out);
  sent(out);
  root.handle(3, {0, Kind::report, 2, 1, 9, 9}, out);
  root.idle(100, 100, out);
  EXPECT_FALSE(root.done()) << "what earlier waits finished does not count";
}

TEST(TerminationDetector, a_rank_learns_that_its_parent_and_its_children_have_entered_the_wait) {
  TerminationDetector middle({.parent = 9, .children = {4, 6}});
  std::vector<TerminationMessage> out;
  middle.handle(6, {9, Kind::entered, 1}, out);  // rank 6 enters before this rank does
  middle.enter(out);
  EXPECT_THAT(middle.missing(), testing::ElementsAre(4, 9));
  middle.handle(9, {9, Kind::entered, 1}, out);
  EXPECT_THAT(middle.missing(), testing::ElementsAre(4));
  middle.handle(4, {9, Kind::entered, 1}, out);
  EXPECT_THAT(middle.missing(), testing::IsEmpty());
}

TEST(TerminationTree,
     a_rank_has_up_to_16_children_on_its_node_and_a_node_leader_up_to_16_more_on_other_nodes) {
  // Nodes of 40 ranks, the last one with 20.
  EXPECT_EQ(termination_tree(0, 900, 40).parent, std::nullopt);
  std::vector<std::uint32_t> children;
  for (std::uint32_t i = 1; i <= 16; ++i) children.push_back(i);
  for (std::uint32_t i = 1; i <= 16; ++i) children.push_back(40 * i);
  EXPECT_EQ(termination_tree(0, 900, 40).children, children);
  EXPECT_EQ(termination_tree(41, 900, 40).parent, 40u);
  EXPECT_THAT(termination_tree(41, 900, 40).children,
              testing::ElementsAre(57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72));
  EXPECT_THAT(termination_tree(42, 900, 40).children,
              testing::ElementsAre(73, 74, 75, 76, 77, 78, 79));
  EXPECT_EQ(termination_tree(73, 900, 40).parent, 42u);
  EXPECT_EQ(termination_tree(72, 900, 40).parent, 41u);
  EXPECT_EQ(termination_tree(16 * 40, 900, 40).parent, 0u);
  EXPECT_EQ(termination_tree(17 * 40, 900, 40).parent, 40u);
  EXPECT_EQ(termination_tree(40, 900, 40).children.size(), 16u + 6);  // 6 leaders, of nodes 17-22
  EXPECT_EQ(termination_tree(40, 900, 40).children.back(), 22u * 40);
  EXPECT_EQ(termination_tree(880, 900, 40).children.size(), 16u);
  EXPECT_THAT(termination_tree(881, 900, 40).children, testing::ElementsAre(897, 898, 899));
}

TEST(TerminationTree, reaches_every_rank_once_and_gives_each_rank_at_most_32_children) {
  for (const std::uint32_t num_ranks : {1u, 2u, 17u, 18u, 300u, 5000u})
    for (const std::uint32_t per_node : {1u, 7u, 128u, 5000u}) {
      std::vector<std::uint32_t> depth(num_ranks);
      std::uint32_t reached = 1;
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
        const TerminationTree tree = termination_tree(rank, num_ranks, per_node);
        EXPECT_EQ(tree.parent.has_value(), rank > 0);
        if (tree.parent) {
          ASSERT_LT(*tree.parent, rank);
          depth[rank] = depth[*tree.parent] + 1;
          const auto siblings = termination_tree(*tree.parent, num_ranks, per_node).children;
          EXPECT_EQ(std::count(siblings.begin(), siblings.end(), rank), 1);
          ++reached;
        }
        EXPECT_LE(tree.children.size(), 32u);
        EXPECT_LE(depth[rank], 6u);
      }
      EXPECT_EQ(reached, num_ranks);
    }
}

TEST(TerminationTree,
     is_the_same_whether_built_from_lists_of_ranks_or_from_the_number_of_ranks_per_node) {
  constexpr std::uint32_t kRanks = 100, kPerNode = 30;
  std::vector<std::uint32_t> leaders;
  for (std::uint32_t rank = 0; rank < kRanks; rank += kPerNode) leaders.push_back(rank);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    std::vector<std::uint32_t> node;
    const std::uint32_t first = rank / kPerNode * kPerNode;
    for (std::uint32_t r = first; r < std::min(kRanks, first + kPerNode); ++r) node.push_back(r);
    const TerminationTree a = termination_tree(rank, node, leaders);
    const TerminationTree b = termination_tree(rank, kRanks, kPerNode);
    EXPECT_EQ(a.parent, b.parent);
    EXPECT_EQ(a.children, b.children);
  }
}

}  // namespace
}  // namespace poise
