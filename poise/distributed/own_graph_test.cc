// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/own_graph.h"

#include <gmock/gmock.h>
#include <map>
#include <set>
#include <utility>

#include "tests/support/random_problem.h"

#include "poise/base/random.h"
#include "poise/distributed/split_testing.h"

namespace poise {
namespace {

/// For each task, by id: its rank, and its index among the tasks of that rank.
std::map<std::uint64_t, VertexName> names_of_tasks(const std::vector<OwnArrays>& own) {
  std::map<std::uint64_t, VertexName> names;
  for (std::uint32_t rank = 0; rank < own.size(); ++rank)
    for (std::uint32_t t = 0; t < own[rank].ids.size(); ++t) names[own[rank].ids[t]] = {rank, t};
  return names;
}

TEST(OwnGraph, every_rank_finds_the_receivers_of_its_messages) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const OwnedProblem problem = random_problem(random);
    std::vector<OwnArrays> own = split(problem.view());
    auto names = names_of_tasks(own);
    if (seed % 3 == 0) {  // each rank has consecutive ids
      for (OwnArrays& arrays : own)
        for (std::uint64_t& to : arrays.to) to = 1000 * names.at(to).rank + names.at(to).index;
      for (std::uint32_t rank = 0; rank < own.size(); ++rank)
        for (std::uint32_t t = 0; t < own[rank].ids.size(); ++t) own[rank].ids[t] = 1000 * rank + t;
      names = names_of_tasks(own);
    }
    SimulatedRanks(own.size()).run([&](const poise_communication& table) {
      Communicator ranks(table);
      const OwnArrays& mine = own[table.rank];
      const OwnTasks tasks = mine.view(seed % 2 == 0);
      const OwnGraph graph(ranks, tasks);
      // Tasks and ghosts get made-up targets; rank_of_receiver() must return the receiver's target.
      std::vector<std::uint32_t> own_targets, ghost_targets;
      for (std::uint32_t t = 0; t < tasks.num_tasks(); ++t) own_targets.push_back(t);
      for (const VertexName& ghost : graph.ghosts()) {
        EXPECT_NE(ghost.rank, table.rank);
        ghost_targets.push_back(1000 * ghost.rank + ghost.index);
      }
      EXPECT_EQ(std::set(ghost_targets.begin(), ghost_targets.end()).size(), ghost_targets.size());
      for (std::size_t i = 0; i < mine.to.size(); ++i) {
        const VertexName to = names.at(mine.to[i]);
        EXPECT_EQ(graph.rank_of_receiver(i, own_targets, ghost_targets),
                  to.index + (to.rank == table.rank ? 0 : 1000 * to.rank));
      }
    });
  }
}

TEST(OwnGraph, refuses_receivers_that_do_not_exist_and_duplicate_ids) {
  const auto errors_of = [](const std::vector<std::uint64_t>& ids, std::uint64_t to,
                            std::vector<std::uint32_t> to_rank) {
    std::vector<std::string> told(2);
    SimulatedRanks(2).run([&](const poise_communication& table) {
      Communicator ranks(table);
      OwnArrays own;
      own.ids = table.rank == 0 ? ids : std::vector<std::uint64_t>{90, 91};
      own.load_s.assign(own.ids.size(), 1);
      own.first.assign(own.ids.size() + 1, 0);
      if (table.rank == 0) {
        own.first.back() = 1;
        own.to = {to};
        own.to_rank = to_rank;
      }
      const OwnTasks tasks = own.view();
      try {
        agreed(ranks, [&] { const OwnGraph graph(ranks, tasks); });
      } catch (const Error& error) {
        told[table.rank] = error.what();
      }
    });
    return told[0];
  };
  EXPECT_EQ(errors_of({10, 11, 12}, 12, {}), "");
  EXPECT_EQ(errors_of({10, 11, 12}, 91, {}), "");
  EXPECT_EQ(errors_of({10, 11, 12}, 91, {1}), "");
  for (const std::uint64_t missing : {9u, 13u, 92u}) {
    EXPECT_EQ(
        errors_of({10, 11, 12}, missing, {}),
        fmt::format("a task lists neighbour {}, but no rank has a task with that id", missing));
    EXPECT_EQ(errors_of({10, 11, 12}, missing, {1}),
              fmt::format("a task lists neighbour {} on rank 1, but that rank has no such task",
                          missing));
  }
  EXPECT_THAT(errors_of({10, 11, 10}, 10, {}),
              testing::StartsWith("two tasks have the id 10; ids must be unique"));
}

/// Checks the values of the clusters of one rank: sums over their tasks, and the background load.
void expect_sums(const OwnTasks& own, const std::vector<std::uint32_t>& cluster_of,
                 const std::vector<PieceVertex>& clusters, double speed,
                 const AveragePlace& average) {
  const std::size_t last = clusters.size() - (own.background_s > 0 ? 1 : 0);
  for (std::uint32_t c = 0; c < last; ++c) {
    PieceVertex expected;
    for (std::uint32_t t = 0; t < own.num_tasks(); ++t) {
      if (cluster_of[t] != c) continue;
      expected.load_s += own.load_s[t];
      expected.weight += 0.1 / std::max(1.0, average.tasks);
      if (average.load_s > 0) expected.weight += own.load_s[t] / average.load_s;
      expected.bytes += own.bytes[t];
      ++expected.num_tasks;
      if (expected.num_tasks > 1) {
        EXPECT_EQ(expected.is_pinned, own.pinned[t]);
      }
      expected.is_pinned = own.pinned[t];
    }
    EXPECT_NEAR(clusters[c].load_s, expected.load_s, 1e-12);
    EXPECT_NEAR(clusters[c].weight, expected.weight, 1e-12);
    EXPECT_EQ(clusters[c].bytes, expected.bytes);
    EXPECT_EQ(clusters[c].num_tasks, expected.num_tasks);
    EXPECT_EQ(clusters[c].is_pinned, expected.is_pinned);
  }
  if (last == clusters.size()) return;
  EXPECT_EQ(clusters[last].load_s, own.background_s * speed);
  EXPECT_EQ(clusters[last].weight,
            average.load_s > 0 ? own.background_s * speed / average.load_s : 0);
  EXPECT_EQ(clusters[last].is_pinned, 1u);
  EXPECT_EQ(clusters[last].num_tasks, 0u);
}

TEST(OwnGraph, clusters_add_up_the_values_of_their_tasks_and_edges_add_up_their_messages) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const OwnedProblem problem = random_problem(random);
    const std::vector<OwnArrays> own = split(problem.view());
    const AveragePlace average{seed % 5 == 0 ? 0 : random.uniform(0.1, 3), random.uniform(0, 9)};
    const MergeLimits limits{.max_weight = random.uniform(0, 3),
                             .max_vertices = 1 + random.below(5)};
    SimulatedRanks(own.size()).run([&](const poise_communication& table) {
      Communicator ranks(table);
      const OwnArrays& mine = own[table.rank];
      const OwnTasks tasks = mine.view();
      OwnGraph graph(ranks, tasks);
      const auto clusters = graph.merge(0.5, average, limits);
      const std::vector<std::uint32_t> cluster_of = graph.cluster_of();
      expect_sums(tasks, cluster_of, clusters, 0.5, average);
      // The cluster of each ghost is made up: its number is a third of the number of the task.
      std::vector<VertexName> ghost_cluster;
      for (const VertexName& ghost : graph.ghosts())
        ghost_cluster.push_back({ghost.rank, ghost.index / 3});
      std::map<std::pair<std::uint32_t, VertexName>, std::pair<std::uint64_t, std::uint64_t>> sums;
      const auto names = names_of_tasks(own);
      for (std::uint32_t t = 0; t < tasks.num_tasks(); ++t)
        for (std::size_t i = mine.first[t]; i < mine.first[t + 1]; ++i) {
          const VertexName to = names.at(mine.to[i]);
          const bool is_own = to.rank == table.rank;
          if (is_own && cluster_of[to.index] == cluster_of[t]) continue;
          const VertexName other = is_own ? VertexName{77, 100 + cluster_of[to.index]}
                                          : VertexName{to.rank, to.index / 3};
          auto& [count, bytes] = sums[{100 + cluster_of[t], other}];
          count += mine.counts[i];
          bytes += mine.message_bytes[i];
        }
      std::map<std::pair<std::uint32_t, VertexName>, std::pair<std::uint64_t, std::uint64_t>> found;
      for (const PieceEdge& edge : graph.edges({77, 100}, ghost_cluster)) {
        EXPECT_TRUE(found.try_emplace({edge.own, edge.other}, edge.count, edge.bytes).second);
      }
      EXPECT_EQ(found, sums);
    });
  }
}

/// How tasks 0 to 3, which form a ring, are merged into two clusters. `one` is the traffic in each
/// direction between tasks 0 and 1 and between 2 and 3; `two` is the traffic in each direction
/// between tasks 1 and 2 and between 3 and 0.
std::vector<std::uint32_t> clusters_of_ring(const std::pair<std::uint64_t, std::uint64_t>& one,
                                            const std::pair<std::uint64_t, std::uint64_t>& two) {
  std::vector<std::uint32_t> clusters;
  SimulatedRanks(1).run([&](const poise_communication& table) {
    Communicator ranks(table);
    OwnArrays own;
    own.ids = {0, 1, 2, 3};
    own.load_s.assign(4, 1);
    for (std::uint64_t t = 0; t < 4; ++t) {
      own.to.insert(own.to.end(), {t, (t + 1) % 4, (t + 3) % 4});
      const auto& [ahead, back] = t % 2 == 0 ? std::pair(one, two) : std::pair(two, one);
      own.counts.insert(own.counts.end(), {1000, ahead.first, back.first});
      own.message_bytes.insert(own.message_bytes.end(), {1000, ahead.second, back.second});
      own.first.push_back(own.to.size());
    }
    const OwnTasks tasks = own.view(false);
    OwnGraph graph(ranks, tasks);
    graph.merge(1, {.load_s = 4, .tasks = 4}, {.max_weight = 0.6, .max_vertices = 2});
    clusters = graph.cluster_of();
  });
  return clusters;
}

TEST(OwnGraph, the_tasks_that_exchange_the_most_bytes_and_messages_are_merged) {
  using Traffic = std::pair<std::uint64_t, std::uint64_t>;  // messages, bytes
  const Traffic light{1, 10}, bytes{1, 80}, messages{90, 10}, empty{1, 0}, many{9, 0};
  for (const auto& [heavy, other] :
       {std::pair(bytes, light), std::pair(messages, light), std::pair(many, empty)}) {
    const std::vector<std::uint32_t> one = clusters_of_ring(heavy, other),
                                     two = clusters_of_ring(other, heavy);
    EXPECT_TRUE(one[0] == one[1] && one[2] == one[3] && one[0] != one[2]) << heavy.first;
    EXPECT_TRUE(two[0] == two[3] && two[1] == two[2] && two[0] != two[1]) << heavy.first;
  }
}

}  // namespace
}  // namespace poise
