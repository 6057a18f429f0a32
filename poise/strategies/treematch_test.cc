// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <string>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

Placement drawn_placement(TaskId num_tasks, std::uint32_t num_places, Random& random) {
  Placement placement(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t)
    placement.move(t, static_cast<PlaceId>(random.below(num_places)));
  return placement;
}

Placement place(const char* strategy, const Machine& machine, const Workload& workload,
                const Placement& current) {
  return parse_strategy(strategy).rebalance({machine, workload, current, machine.costs()});
}

Metrics judge(const Machine& machine, const Workload& workload, const Placement& current,
              const Placement& placed) {
  return evaluate(machine, workload, machine.costs(), current, placed);
}

void send_both_ways(Workload& workload, TaskId a, TaskId b, std::uint64_t bytes) {
  workload.messages.push_back({a, b, 1, bytes});
  workload.messages.push_back({b, a, 1, bytes});
}

/// A grid of side^3 tasks, each of which exchanges messages with its neighbours. draw_s() returns
/// the load of a task.
template <typename Draw>
Workload stencil(TaskId side, const Draw& draw_s) {
  Workload workload;
  for (TaskId t = 0; t < side * side * side; ++t) {
    workload.tasks.push_back({.load_s = draw_s(t), .bytes = 1000});
    const TaskId x = t % side, y = t / side % side, z = t / side / side;
    if (x > 0) send_both_ways(workload, t, t - 1, 1000);
    if (y > 0) send_both_ways(workload, t, t - side, 1000);
    if (z > 0) send_both_ways(workload, t, t - side * side, 1000);
  }
  return workload;
}

/// A ring of tasks, each of which exchanges messages with the next k tasks.
Workload k_neighbour(TaskId num_tasks, TaskId k) {
  Workload workload;
  workload.tasks.assign(num_tasks, {.load_s = 1e-3, .bytes = 100});
  for (TaskId t = 0; t < num_tasks; ++t)
    for (TaskId i = 1; i <= k; ++i) send_both_ways(workload, t, (t + i) % num_tasks, 1000);
  return workload;
}

/// Returns hops times bytes if consecutive tasks of a ring are placed in blocks on consecutive
/// places. No balanced placement has a smaller value.
std::uint64_t hop_bytes_in_blocks(const Machine& machine, const Workload& workload) {
  const Placement blocks = blocked(workload.num_tasks(), machine.num_places());
  return judge(machine, workload, blocks, blocks).hop_bytes;
}

/// A machine of two packages with four cores each. The operating system numbers the cores of the
/// two packages alternately.
constexpr const char* kNehalem = "package:2 core:4 factors:2,1";

TEST(Treematch, minimises_the_hop_bytes_of_a_ring_of_tasks_for_every_initial_placement) {
  const Machine machine = machine_from_text(kNehalem);
  for (const TaskId num_tasks : {8u, 16u, 64u}) {
    const Workload workload = k_neighbour(num_tasks, 1);
    const std::uint64_t least = hop_bytes_in_blocks(machine, workload);
    // The places of the cores that the operating system numbers 0, 2, 4, 6, 1, 3, 5, 7, in this
    // order.
    const PlaceId numbering[] = {0, 4, 1, 5, 2, 6, 3, 7};
    std::vector<Placement> starts = {blocked(num_tasks, 8), round_robin(num_tasks, 8),
                                     Placement(num_tasks)};
    starts.emplace_back(num_tasks);
    for (TaskId t = 0; t < num_tasks; ++t) starts.back().move(t, numbering[t * 8 / num_tasks]);
    Random random(5);
    for (int i = 0; i < 20; ++i) starts.push_back(drawn_placement(num_tasks, 8, random));
    for (const Placement& start : starts) {
      const Placement placed = place("treematch", machine, workload, start);
      const Metrics metrics = judge(machine, workload, start, placed);
      EXPECT_EQ(metrics.hop_bytes, least);
      EXPECT_NEAR(metrics.imbalance, 1, 1e-12);
    }
  }
}

/// Random messages between 16 tasks of equal load.
Workload drawn_messages(Random& random) {
  Workload workload;
  workload.tasks.assign(16, {.load_s = 1e-3, .bytes = 100});
  for (TaskId a = 0; a < 16; ++a)
    for (TaskId b = 0; b < a; ++b)
      if (random.below(4) == 0) send_both_ways(workload, a, b, 1 + random.below(1000));
  return workload;
}

/// Expects that no two places could lower the hop bytes by exchanging their tasks. The place
/// `pinned` is left out.
void expect_no_exchange_shortens_paths(const Machine& machine, const Workload& workload,
                                       const Placement& placed, PlaceId pinned) {
  const std::uint64_t hop_bytes = judge(machine, workload, placed, placed).hop_bytes;
  for (PlaceId a = 0; a < machine.num_places(); ++a)
    for (PlaceId b = 0; b < a; ++b) {
      if (a == pinned || b == pinned) continue;
      Placement exchanged = placed;
      for (TaskId t = 0; t < placed.num_tasks(); ++t)
        if (placed.of(t) == a || placed.of(t) == b) exchanged.move(t, placed.of(t) == a ? b : a);
      EXPECT_GE(judge(machine, workload, placed, exchanged).hop_bytes, hop_bytes) << a << " " << b;
    }
}

TEST(Treematch, no_two_torus_nodes_could_lower_the_hop_bytes_by_swapping_their_tasks) {
  const Machine machine = machine_from_text("torus:4x4 core:1");
  Random random(3);
  for (int seed = 0; seed < 5; ++seed) {
    const Workload workload = drawn_messages(random);
    const Placement placed =
        place("treematch:only_better=0", machine, workload, drawn_placement(16, 16, random));
    expect_no_exchange_shortens_paths(machine, workload, placed, machine.num_places());
  }
}

TEST(Treematch, no_two_places_without_pinned_tasks_could_lower_the_hop_bytes_by_swapping_tasks) {
  const Machine machine = machine_from_text("numa:4 core:4");
  Random random(3);
  for (int seed = 0; seed < 5; ++seed) {
    Workload workload = drawn_messages(random);
    workload.tasks[3].movable = false;
    const Placement current = drawn_placement(16, 16, random);
    const Placement placed = place("treematch:only_better=0", machine, workload, current);
    expect_no_exchange_shortens_paths(machine, workload, placed, current.of(3));
  }
}

/// The least hop bytes of eight tasks on eight places, whose distances depend only on whether they
/// are in the same group of `size` consecutive places. Found by trying all divisions into groups.
std::uint64_t least_hop_bytes(const Machine& machine, const Workload& workload, PlaceId size) {
  std::vector<PlaceId> group_of(8);
  for (TaskId t = 0; t < 8; ++t) group_of[t] = t / size;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  do {
    Placement placement(8);
    std::vector<PlaceId> used(8, 0);
    for (TaskId t = 0; t < 8; ++t) placement.move(t, group_of[t] * size + used[group_of[t]]++);
    least = std::min(least, judge(machine, workload, placement, placement).hop_bytes);
  } while (std::next_permutation(group_of.begin(), group_of.end()));
  return least;
}

TEST(Treematch, minimises_the_hop_bytes_if_each_leaf_of_a_tree_of_eight_leaves_has_one_task) {
  struct Case {
    const char *machine, *levels;
    PlaceId size;  // number of leaves with the same parent
  };
  for (const auto& [text, levels, size] :
       {Case{"rack:2 node:4 core:1", "node", 4}, Case{"rack:4 node:2 core:1", "node", 2},
        Case{"package:2 numa:4 core:1", "2", 4}, Case{"package:4 numa:2 core:1", "2", 2}}) {
    const Machine machine = machine_from_text(text);
    const std::string strategy = std::string("treematch:only_better=0,levels=") + levels;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      Workload workload;
      workload.tasks.assign(8, {.load_s = 1e-3, .bytes = 100});
      for (TaskId a = 0; a < 8; ++a)
        for (TaskId b = 0; b < a; ++b)
          if (random.below(3) > 0) send_both_ways(workload, a, b, 1 + random.below(1000));
      const Placement start = drawn_placement(8, 8, random);
      const Placement placed = place(strategy.c_str(), machine, workload, start);
      EXPECT_EQ(judge(machine, workload, start, placed).hop_bytes,
                least_hop_bytes(machine, workload, size));
    }
  }
}

TEST(Treematch, a_second_run_that_starts_from_the_result_of_the_first_moves_no_task) {
  Random random(3);
  const Machine machine = machine_from_text("node:4 numa:2 core:4");
  const Workload workload = stencil(10, [&](TaskId) { return 1e-3 * random.uniform(0.5, 2); });
  const Placement start = drawn_placement(1000, machine.num_places(), random);
  const Placement first = place("treematch", machine, workload, start);
  EXPECT_EQ(migrations(first, place("treematch", machine, workload, first)).size(), 0u);
}

TEST(Treematch, places_each_cluster_of_tasks_on_one_node) {
  for (const char* text : {"node:8 core:4", "node:8 numa:2 core:2", "torus:2x2x2 core:4"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    Random random(9);
    std::vector<TaskId> order(128);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    Workload workload;
    workload.tasks.assign(128, {.load_s = 1e-3});
    for (TaskId a = 0; a < 128; ++a)
      for (TaskId b = 0; b < a; ++b)
        if (a / 16 == b / 16) send_both_ways(workload, order[a], order[b], 100);
    const Placement start = drawn_placement(128, machine.num_places(), random);
    const Placement placed = place("treematch", machine, workload, start);
    EXPECT_EQ(judge(machine, workload, start, placed).internode_bytes, 0u);
  }
}

TEST(Treematch, keeps_the_load_of_every_place_within_the_limit_if_task_loads_are_skewed) {
  for (const char* text : {"core:64", "node:8 core:8", "torus:4x4 numa:2 core:2",
                           "node:4 core:16 speeds:1,0.5", "node:3 numa:3 core:7"}) {
    const Machine machine = machine_from_text(text);
    for (std::uint64_t seed = 0; seed < fewer_if_sanitized(5); ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      const Workload workload = stencil(
          12, [&](TaskId t) { return 1e-3 * portable_exp(random.normal()) * (t < 216 ? 3 : 1); });
      const Placement start = blocked(workload.num_tasks(), machine.num_places());
      const Placement placed = place("treematch:only_better=0", machine, workload, start);
      const Metrics metrics = judge(machine, workload, start, placed);
      EXPECT_LE(metrics.makespan_s,
                std::max(1.05 * metrics.average_s, metrics.makespan_bound_s) * (1 + 1e-9));
    }
  }
}

TEST(Treematch, accounts_for_background_load_and_pinned_tasks) {
  const Machine machine = machine_from_text("node:2 numa:2 core:4");
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Workload workload = stencil(9, [&](TaskId) { return 1e-3 * random.uniform(0.5, 2); });
    for (PlaceId p = 0; p < 16; ++p) workload.background_s.push_back(p % 4 == 0 ? 0.04 : 0);
    for (Task& task : workload.tasks) task.movable = random.below(10) != 0;
    const Placement start = drawn_placement(workload.num_tasks(), 16, random);
    const Placement placed = place("treematch", machine, workload, start);
    for (const Migration& moved : migrations(start, placed))
      EXPECT_TRUE(workload.tasks[moved.task].movable);
    const Metrics metrics = judge(machine, workload, start, placed);
    EXPECT_LE(metrics.imbalance, 1.05 * (1 + 1e-9));
    EXPECT_LT(metrics.hop_bytes, judge(machine, workload, start, start).hop_bytes);
  }
}

TEST(Treematch, gives_a_huge_task_its_own_place) {
  const Machine machine = machine_from_text("node:2 core:4");
  Workload workload = k_neighbour(64, 2);
  workload.tasks[10].load_s = 1;
  const Placement start = blocked(64, 8);
  const Placement placed = place("treematch", machine, workload, start);
  const Metrics metrics = judge(machine, workload, start, placed);
  EXPECT_LE(metrics.makespan_s, metrics.makespan_bound_s * (1 + 1e-9));
  std::vector<int> tasks(8, 0);
  for (TaskId t = 0; t < 64; ++t) ++tasks[placed.of(t)];
  EXPECT_EQ(tasks[placed.of(10)], 1);
  EXPECT_EQ(*std::max_element(tasks.begin(), tasks.end()), 9);
}

TEST(Treematch, takes_less_than_quadratic_time_on_star_and_random_graphs) {
  POISE_SKIP_IF_SLOW();
  // One task, the hub, communicates with all others. Random messages connect many pairs of nodes of
  // a torus, where the mapping of groups to nodes matters. If the time grew quadratically with the
  // number of partners of the hub or of a node, this test would run for minutes.
  const Machine machine = machine_from_text("torus:8x8x8 core:1");
  Random random(6);
  Workload workload;
  workload.tasks.assign(60000, {.load_s = 1e-3});
  for (TaskId t = 1; t < 60000; ++t) {
    send_both_ways(workload, 0, t, 10);
    send_both_ways(workload, t, static_cast<TaskId>(random.below(60000)), 100);
  }
  const Placement start = drawn_placement(60000, machine.num_places(), random);
  const Placement placed = place("treematch:only_better=0", machine, workload, start);
  EXPECT_LT(judge(machine, workload, start, placed).hop_bytes,
            judge(machine, workload, start, start).hop_bytes);
}

TEST(Treematch, uses_the_number_of_messages_as_affinity_if_all_messages_have_0_bytes) {
  const Machine machine = machine_from_text(kNehalem);
  Workload workload = k_neighbour(32, 1), silent = workload;
  for (Message& message : silent.messages) message.bytes = 0;
  const Placement start = round_robin(32, 8);
  EXPECT_EQ(place("treematch", machine, silent, start),
            place("treematch", machine, workload, start));
}

TEST(Treematch, the_placement_is_the_same_for_any_number_of_threads) {
  Random random(2);
  const Machine machine = machine_from_text("node:16 numa:2 core:4");
  const Workload workload = stencil(14, [&](TaskId) { return random.uniform(1, 5); });
  const Placement start = blocked(workload.num_tasks(), machine.num_places());
  EXPECT_EQ(place("treematch", machine, workload, start),
            place("treematch:threads=4", machine, workload, start));
}

TEST(Treematch, with_the_option_groups_set_to_current_all_tasks_of_a_node_move_together) {
  const Machine machine = machine_from_text("torus:8 core:2");
  const Workload workload = k_neighbour(64, 1);
  Placement start(64);  // 8 consecutive tasks per node; the next 8 tasks are 3 nodes further
  for (TaskId t = 0; t < 64; ++t) start.move(t, (t / 8 * 3 % 8) * 2 + t / 4 % 2);
  const Placement placed = place("treematch:groups=current", machine, workload, start);
  for (TaskId t = 0; t < 64; ++t)
    EXPECT_EQ(machine.node_of_place(placed.of(t)), machine.node_of_place(placed.of(t / 8 * 8)));
  EXPECT_LT(judge(machine, workload, start, placed).hop_bytes,
            judge(machine, workload, start, start).hop_bytes);
}

TEST(Treematch,
     with_groups_set_to_current_a_node_with_more_tasks_than_places_loses_only_the_excess_tasks) {
  const Machine machine = machine_from_text("node:3 core:4");
  const char* strategy = "treematch:groups=current,only_better=0";
  // Each node has every third task of a ring, so all tasks communicate with other nodes.
  const Workload workload = k_neighbour(11, 1);
  Placement start(11);
  for (TaskId t = 0; t < 11; ++t) start.move(t, t % 3 * 4 + t / 3);
  const Placement placed = place(strategy, machine, workload, start);
  for (TaskId t = 0; t < 11; ++t)
    EXPECT_EQ(machine.node_of_place(placed.of(t)), machine.node_of_place(placed.of(t % 3)));
  // Only two tasks leave a node that has six tasks on four places.
  for (const TaskId t : {1u, 2u}) start.move(t, 0);
  const Placement spread = place(strategy, machine, workload, start);
  int on_node[3] = {};
  for (const TaskId t : {0u, 1u, 2u, 3u, 6u, 9u}) ++on_node[machine.node_of_place(spread.of(t))];
  EXPECT_EQ(*std::max_element(std::begin(on_node), std::end(on_node)), 4);
}

TEST(Treematch, keeps_the_current_placement_if_it_is_better_than_the_computed_one) {
  const Machine machine = machine_from_text("core:2 message:1");
  // On different places, the two tasks would have to wait for each other's messages.
  Workload workload = k_neighbour(2, 1);
  const Placement together(2);
  EXPECT_EQ(place("treematch", machine, workload, together), together);
  EXPECT_NE(place("treematch:only_better=0", machine, workload, together), together);
}

/// 24 problems: four machines, three kinds of message graphs, and two initial placements.
template <typename Visit>
void for_each_case_of_levels(const Visit& visit) {
  for (const char* text :
       {"rack:2 node:4 numa:2 core:4 uplink:1e9", "node:8 numa:2 core:4 bandwidth:1e9",
        "torus:4x4 numa:2 core:2 bandwidth:1e9 hop:1", "package:2 numa:2 l3:2 core:4"}) {
    const Machine machine = with_formula(machine_from_text(text), CostFormula::physical);
    Random random(7);
    const auto draw_s = [&](TaskId) { return random.uniform(1e-4, 1e-3); };
    Workload workloads[] = {stencil(8, draw_s), k_neighbour(600, 3), stencil(6, draw_s)};
    for (Message& message : workloads[2].messages) message.bytes += random.below(200'000);
    for (const Workload& workload : workloads) {
      visit(machine, workload, blocked(workload.num_tasks(), machine.num_places()));
      visit(machine, workload, drawn_placement(workload.num_tasks(), machine.num_places(), random));
    }
  }
}

TEST(Treematch, with_the_option_levels_set_to_auto_iterations_are_as_short_as_with_the_best_level) {
  POISE_SKIP_IF_SLOW();
  int cases = 0, different = 0;
  double node_to_best = 0, worst_to_best = 0;
  for_each_case_of_levels([&](const Machine& machine, const Workload& workload,
                              const Placement& current) {
    const auto iteration_s = [&](const std::string& levels) {
      const std::string strategy = "treematch:only_better=0,levels=" + levels;
      return judge(machine, workload, current, place(strategy.c_str(), machine, workload, current))
          .iteration_s;
    };
    double best_s = iteration_s("node"), worst_s = best_s;
    const double node_s = best_s;
    for (std::size_t depth = 0; depth < machine.levels().size(); ++depth) {
      const double fixed_s = iteration_s(std::to_string(depth));
      best_s = std::min(best_s, fixed_s);
      worst_s = std::max(worst_s, fixed_s);
    }
    EXPECT_EQ(iteration_s("auto"), best_s) << machine.name();
    node_to_best += node_s / best_s;
    worst_to_best += worst_s / best_s;
    different += best_s < worst_s ? 1 : 0;
    ++cases;
  });
  EXPECT_EQ(cases, 24);
  EXPECT_GT(different, 12) << "levels must matter, or this test shows nothing";
  RecordProperty("node_to_best", std::to_string(node_to_best / cases));
  RecordProperty("worst_to_best", std::to_string(worst_to_best / cases));
}

TEST(Treematch, the_option_levels_accepts_the_name_node_or_the_number_of_the_node_level) {
  const Machine machine = machine_from_text("rack:2 node:4 numa:2 core:2");
  const Workload workload = k_neighbour(128, 2);
  const Placement current = round_robin(128, machine.num_places());
  EXPECT_EQ(place("treematch:levels=2", machine, workload, current),
            place("treematch", machine, workload, current));
}

TEST(Treematch, level_numbers_that_are_too_large_select_the_last_level_above_the_places) {
  const Machine machine = machine_from_text("node:4 numa:2 core:2");
  const Workload workload = k_neighbour(64, 2);
  const Placement current = round_robin(64, machine.num_places());
  EXPECT_EQ(place("treematch:levels=9", machine, workload, current),
            place("treematch:levels=2", machine, workload, current));
}

TEST(Treematch, shortens_the_paths_of_messages_on_every_kind_of_machine) {
  struct Case {
    const char *machine, *options;
    bool has_pinned_tasks;
    double most;  // upper limit for the hop bytes, as a fraction of the initial ones
  };
  for (const auto& [text, options, has_pinned_tasks, most] :
       {Case{"core:6", "", false, 0.439}, Case{"numa:2 l3:2 core:3", "", false, 0.4852},
        Case{"numa:2 core:4 speeds:1,0.5", "", false, 0.4513},
        Case{"node:4 numa:2 core:2", "", false, 0.5244},
        Case{"node:4 numa:2 core:2", "", true, 0.5926},
        Case{"rack:2 switch:2 node:3 core:2", "", false, 0.5893},
        Case{"rack:2 node:4 core:2", ",levels=1", false, 0.5104},
        Case{"package:2 numa:3 core:3", ",levels=2", false, 0.5343},
        Case{"torus:3x4 core:2", "", false, 0.628}, Case{"dragonfly:3x3 core:2", "", true, 0.6066},
        Case{"mesh:7 numa:2 core:1", ",groups=current", false, 0.9199},
        Case{"node:30 core:4", ",affinity=messages", false, 0.7499}}) {
    SCOPED_TRACE(testing::Message() << text << options << has_pinned_tasks);
    const Machine machine = machine_from_text(text);
    const std::string strategy = std::string("treematch:only_better=0") + options;
    double ratio = 0;
    for (const TaskId side : {3u, 6u}) {
      Random random(side);
      Workload workload =
          stencil(side, [&](TaskId t) { return t % 40 == 7 ? 3.0 : 0.5 + random.uniform(); });
      for (Message& message : workload.messages) message.bytes += random.below(1000);
      if (has_pinned_tasks)
        for (Task& task : workload.tasks) task.movable = random.below(8) > 0;
      const Placement start = drawn_placement(workload.num_tasks(), machine.num_places(), random);
      const Placement placed = place(strategy.c_str(), machine, workload, start);
      for (const Migration& moved : migrations(start, placed))
        EXPECT_TRUE(workload.tasks[moved.task].movable);
      ratio += 0.5 * static_cast<double>(judge(machine, workload, start, placed).hop_bytes) /
               static_cast<double>(judge(machine, workload, start, start).hop_bytes);
    }
    EXPECT_LE(ratio, most);
  }
}

}  // namespace
}  // namespace poise
