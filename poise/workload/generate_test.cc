// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/generate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <map>
#include <numeric>
#include <set>

#include "tests/support/text_of_error.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/workload/box.h"
#include "poise/workload/loads.h"

namespace poise {
namespace {

using testing::HasSubstr;

Workload make(std::string_view recipe, TaskId num_tasks, std::uint64_t seed = 1) {
  return std::move(generate(parse_recipe(recipe), num_tasks, seed).front());
}

std::uint64_t hash_of(const Workload& workload) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t word) { hash = mix(hash + word + 0x9e3779b97f4a7c15); };
  for (const Task& task : workload.tasks) {
    add(std::bit_cast<std::uint64_t>(task.load_s));
    add(task.bytes);
  }
  for (const Message& message : workload.messages) {
    add(std::uint64_t{message.from} << 32 | message.to);
    add(message.count);
    add(message.bytes);
  }
  for (const auto& position : workload.positions)
    for (const double x : position) add(std::bit_cast<std::uint64_t>(x));
  return hash;
}

std::map<std::pair<TaskId, TaskId>, std::uint64_t> counts_of(const Workload& workload) {
  std::map<std::pair<TaskId, TaskId>, std::uint64_t> counts;
  for (const Message& m : workload.messages) counts[{m.from, m.to}] += m.count;
  return counts;
}

std::uint64_t total_count(const Workload& workload) {
  std::uint64_t total = 0;
  for (const Message& m : workload.messages) total += m.count;
  return total;
}

std::string error_of(std::string_view recipe, TaskId num_tasks = 100) {
  return text_of_error([&] { make(recipe, num_tasks); });
}

TEST(Generate, every_kind_of_workload_is_valid_and_has_the_requested_number_of_tasks) {
  for (const Kind& kind : kinds())
    for (const TaskId tasks : {1u, 2u, 3u, 7u, 64u, 500u, 997u}) {
      SCOPED_TRACE(fmt::format("{} {}", kind.name, tasks));
      if (kind.name == "leanmd" && tasks < 405) continue;
      const Workload workload = make(kind.name, tasks);
      check(workload, 1);
      EXPECT_EQ(workload.num_tasks(), kind.name != "leanmd" ? tasks : tasks < 700 ? 540u : 960u);
      for (const Message& m : workload.messages) ASSERT_NE(m.from, m.to);
    }
}

TEST(Generate, two_communicating_tasks_send_each_other_equally_many_messages) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    // In a ring, the number of partners per task is `k`. If k is odd, the messages to the farthest
    // partner go in one direction only, so this test sets k=6.
    const bool is_odd_ring = kind.name == "kneighbor";
    const auto counts = counts_of(make(is_odd_ring ? "kneighbor:k=6" : kind.name, 500));
    for (const auto& [pair, count] : counts) {
      const auto back = counts.find({pair.second, pair.first});
      ASSERT_NE(back, counts.end()) << pair.first << " to " << pair.second;
      EXPECT_EQ(back->second, count);
    }
  }
}

TEST(Generate, a_workload_is_determined_by_its_recipe_and_seed) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    EXPECT_EQ(hash_of(make(kind.name, 500, 3)), hash_of(make(kind.name, 500, 3)));
    const std::string skewed = fmt::format("{}:skew=lognormal", kind.name);
    EXPECT_NE(hash_of(make(skewed, 500, 3)), hash_of(make(skewed, 500, 4)));
  }
}

TEST(Generate, workloads_generated_on_different_platforms_are_bitwise_identical) {
  const std::map<std::string_view, std::uint64_t> golden{
      // clang-format off
      {"stencil2d", 0x370410c3ff491939},
      {"stencil3d", 0x5b1b59115a4e8730},
      {"stencil4d", 0xc10dfb412b254f9d},
      {"ring", 0xc3f0ef335326a5db},
      {"random", 0x5d17f91b4884f99},
      {"geometric", 0x8355c82021f3cb7d},
      {"rmat", 0x9417015759e0ac5f},
      {"leanmd", 0x540643be54f5c9bc},
      {"lb_test", 0xc42684e135a64751},
      {"kneighbor", 0xba9acfe9d0b476dc},
      {"commbench", 0xd67902fb5f1e0eaa},
      {"jacobi2d", 0xc9abc94a5809cb4c},
      {"imbalance", 0x51dbeea346e77019},
      {"poisson3d", 0x7cb95b495226e6ff},
      {"nbody", 0xe8a125ae6407f2eb},
      {"clusters", 0xc6fb546250037bd9},
      // clang-format on
  };
  for (const Kind& kind : kinds()) {
    const auto phases = generate(
        parse_recipe(fmt::format("{}:skew=pareto,drift=0.1,hot=2,hot_speed=0.25", kind.name)), 700,
        42, 3);
    const auto known = golden.find(kind.name);
    EXPECT_TRUE(known != golden.end() && known->second == hash_of(phases.back()))
        << fmt::format("      {{\"{}\", {:#x}}},", kind.name, hash_of(phases.back()));
  }
}

/// A recipe with unusual settings or with few tasks, and a hash of the workload.
struct GoldenRecipe {
  std::string_view recipe;
  TaskId tasks;
  std::uint64_t hash;
};

constexpr GoldenRecipe kGolden[] = {
    // clang-format off
    {"stencil2d:periodic=yes,skew=uniform", 30, 0xdeec92ba23a2fb02},
    {"stencil3d:periodic=yes", 17, 0x9da08afcb1f48fef},
    {"stencil4d:skew=quartic", 45, 0x8018c2c1641c7481},
    {"ring:k=5,skew=lognormal", 4, 0xcf7cb1b7f0dcfab},
    {"ring:messages=3,message_bytes=7,task_bytes=9,load_s=0.25", 5, 0x3348bcf019e8b139},
    {"kneighbor", 3, 0xce020b8b39a973d9},
    {"random:degree=3", 2, 0xca08dbfec4548781},
    {"random:degree=2.4", 7, 0x4c9c8511a98428f7},
    {"geometric:dims=2,degree=5", 150, 0x99876237f9b2f13b},
    {"geometric:degree=0", 40, 0xc2355f255bc1fc8e},
    {"rmat:a=0.4,b=0.3,c=0.2", 33, 0x2ef79e1f1640a1e4},
    {"leanmd:spread=0.6", 1300, 0x7d4c6f9ea3e33b2b},
    {"commbench:bytes_spread=0.5", 9, 0x1b955ba2e44480ac},
    {"nbody:clusters=0,degree=9", 300, 0xb63f112b4da3dd3e},
    {"nbody:clusters=3,clustered=0.5", 90, 0xa26d53658a2800b1},
    {"clusters:fanout=3,degree=5,decay=0.5", 50, 0x2e869a5ab828563b},
    // clang-format on
};

TEST(Generate, workloads_with_unusual_settings_are_bitwise_identical_on_different_platforms) {
  for (const GoldenRecipe& golden : kGolden) {
    const std::uint64_t hash = hash_of(make(golden.recipe, golden.tasks, 7));
    EXPECT_EQ(hash, golden.hash) << fmt::format("    {{\"{}\", {}, {:#x}}},", golden.recipe,
                                                golden.tasks, hash);
  }
}

TEST(Generate, stencils_on_full_grids_have_two_messages_per_pair_of_neighbouring_points) {
  // In a grid, each line of s points along an axis has s - 1 pairs of neighbours, or s if the grid
  // is periodic. Each pair sends one message in each direction.
  EXPECT_EQ(make("stencil2d", 12 * 12).messages.size(), 2u * 2 * 11 * 12);
  EXPECT_EQ(make("stencil2d:periodic=yes", 12 * 12).messages.size(), 2u * 2 * 12 * 12);
  EXPECT_EQ(make("stencil3d", 22 * 22 * 22).messages.size(), 60984u);  // 2 directions * 3 axes *
                                                                       // 22^2 lines * 21 pairs
  EXPECT_EQ(make("stencil3d:periodic=yes", 6 * 6 * 6).messages.size(), 6u * 6 * 6 * 6);
  EXPECT_EQ(make("stencil4d", 256).messages.size(), 2u * 4 * 3 * 4 * 4 * 4);
  EXPECT_EQ(make("stencil4d:periodic=yes", 256).messages.size(), 8u * 256);
}

TEST(Generate, stencils_connect_exactly_the_neighbouring_tasks) {
  for (const TaskId tasks : {60u, 101u, 343u}) {  // a full box, an incomplete one, a cube
    const Workload workload = make("stencil3d", tasks);
    const auto counts = counts_of(workload);
    for (TaskId a = 0; a < tasks; ++a)
      for (TaskId b = 0; b < tasks; ++b) {
        double apart = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
          apart += std::fabs(workload.positions[a][axis] - workload.positions[b][axis]);
        ASSERT_EQ(counts.contains({a, b}), apart == 1) << tasks << ": " << a << " to " << b;
      }
  }
}

TEST(Generate, the_grid_for_any_number_of_tasks_has_sides_that_differ_by_at_most_a_factor_of_2) {
  EXPECT_EQ(box_of(60, 3).side, (std::array<std::uint32_t, 4>{3, 4, 5, 1}));
  EXPECT_EQ(box_of(256, 4).side, (std::array<std::uint32_t, 4>{4, 4, 4, 4}));
  EXPECT_EQ(box_of(101, 3).side, (std::array<std::uint32_t, 4>{5, 5, 5, 1}));
  EXPECT_EQ(box_of(97336, 3).side, (std::array<std::uint32_t, 4>{46, 46, 46, 1}));
  for (std::uint32_t size = 1; size < 300; ++size)
    for (std::size_t dims = 1; dims <= 4; ++dims) {
      const auto side = box_of(size, dims).side;
      EXPECT_GE(std::uint64_t{side[0]} * side[1] * side[2] * side[3], size);
      EXPECT_LE(side[dims - 1], 2 * side[0]) << size << " in " << dims;
    }
}

using Sides = std::vector<std::uint32_t>;

/// Returns all boxes of exactly `size` points whose sides are in ascending order and at least
/// `least`.
std::vector<Sides> exact_boxes(std::uint32_t size, std::size_t dims, std::uint32_t least = 1) {
  if (dims == 1) return size >= least ? std::vector<Sides>{{size}} : std::vector<Sides>{};
  std::vector<Sides> boxes;
  for (std::uint32_t side = least; side <= size; ++side) {
    if (size % side != 0) continue;
    for (Sides& others : exact_boxes(size / side, dims - 1, side)) {
      others.insert(others.begin(), side);
      boxes.push_back(others);
    }
  }
  return boxes;
}

/// Returns the smallest box of at least `size` points whose sides differ by at most one.
Sides nearly_cubic_box(std::uint32_t size, std::size_t dims) {
  Sides sides(dims, 1);
  const auto points = [&] {
    return std::accumulate(sides.begin(), sides.end(), std::uint64_t{1}, std::multiplies<>());
  };
  for (std::size_t axis = dims - 1; points() < size; axis = (axis + dims - 1) % dims) ++sides[axis];
  return sides;
}

TEST(Generate, prefers_a_full_grid_whose_longest_side_is_at_most_twice_its_shortest_side) {
  for (std::uint32_t size = 1; size < 300; ++size)
    for (std::size_t dims = 1; dims <= 4; ++dims) {
      const std::vector<Sides> exact = exact_boxes(size, dims);
      const Sides best =
          *std::ranges::min_element(exact, {}, [](const Sides& s) { return s.back(); });
      Sides expected = best.back() <= 2 * best.front() ? best : nearly_cubic_box(size, dims);
      expected.resize(4, 1);
      const Box box = box_of(size, dims);
      ASSERT_EQ(Sides(box.side.begin(), box.side.end()), expected) << size << " in " << dims;
      ASSERT_EQ(box.size, size);
    }
}

TEST(Generate, stencil3d_triples_the_load_of_the_tasks_in_one_octant_by_default) {
  const Workload workload = make("stencil3d:skew=equal,load_s=1", 22 * 22 * 22);
  int hot = 0;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    const auto& at = workload.positions[t];
    const bool is_hot = at[0] < 11 && at[1] < 11 && at[2] < 11;
    ASSERT_EQ(workload.tasks[t].load_s, is_hot ? 3 : 1);
    hot += is_hot;
  }
  EXPECT_EQ(hot, 11 * 11 * 11);
}

TEST(Generate, every_task_of_a_ring_communicates_with_the_k_tasks_nearest_to_it) {
  const auto counts = counts_of(make("kneighbor", 400));
  EXPECT_EQ(counts.size(), 400u * 7);
  for (const TaskId other : {11u, 9u, 12u, 8u, 13u, 7u, 14u})
    EXPECT_TRUE(counts.contains({10, other})) << other;
  EXPECT_TRUE(counts.contains({0, 399}));
  EXPECT_EQ(make("ring", 2).messages.size(), 2u);
  EXPECT_EQ(make("ring:k=100", 5).messages.size(), 5u * 4);  // from each of 5 tasks to the 4 others
}

TEST(Generate, random_graphs_have_the_requested_mean_degree) {
  const Workload workload = make("random:degree=6", 1000);
  EXPECT_EQ(total_count(workload), 6000u);
  EXPECT_EQ(total_count(make("lb_test", 200)), 1000u);
  // Degrees of a random graph are nearly Poisson: mean 6, variance 6.
  std::vector<double> degree(1000);
  for (const Message& m : workload.messages) degree[m.from] += static_cast<double>(m.count);
  double variance = 0;
  for (const double d : degree) variance += (d - 6) * (d - 6) / 1000;
  EXPECT_NEAR(variance, 6, 1);
}

TEST(Generate, a_hot_region_of_full_extent_contains_all_tasks_in_all_phases) {
  const auto phases =
      generate(parse_recipe("stencil2d:skew=equal,hot=2,hot_extent=1,hot_speed=0.1"), 121, 1, 12);
  for (const Workload& phase : phases)
    for (const Task& task : phase.tasks) EXPECT_EQ(task.load_s, phase.tasks[0].load_s);
}

TEST(Generate, kind_rmat_accepts_probabilities_whose_sum_is_1_up_to_rounding) {
  EXPECT_EQ(make("rmat:a=0.33,b=0.56,c=0.11", 100).num_tasks(), 100u);
  EXPECT_THROW(make("rmat:a=0.33,b=0.56,c=0.12", 100), Error);
}

TEST(Generate, kind_rmat_gives_a_few_tasks_far_more_communication_partners_than_others) {
  const Workload workload = make("rmat", 4096);
  std::vector<int> degree(4096);
  for (const Message& m : workload.messages) ++degree[m.from];
  std::sort(degree.rbegin(), degree.rend());
  EXPECT_GT(degree[0], 20 * 8);
  // If all four quarters of the adjacency matrix are equally likely, the graph is uniformly random,
  // and no task stands out.
  std::vector<int> even(4096);
  for (const Message& m : make("rmat:a=0.25,b=0.25,c=0.25", 4096).messages) ++even[m.from];
  EXPECT_LT(*std::max_element(even.begin(), even.end()), 40);
}

TEST(Generate,
     tasks_of_a_geometric_graph_communicate_if_and_only_if_their_distance_is_within_the_radius) {
  for (const char* dims : {"2", "3"}) {
    SCOPED_TRACE(dims);
    const Workload workload = make(fmt::format("geometric:degree=8,dims={}", dims), 600);
    const auto counts = counts_of(workload);
    double farthest = 0, nearest_unlinked = 10;
    for (TaskId a = 0; a < 600; ++a)
      for (TaskId b = 0; b < a; ++b) {
        double square = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
          square += std::pow(workload.positions[a][axis] - workload.positions[b][axis], 2);
        if (counts.contains({a, b}))
          farthest = std::max(farthest, square);
        else
          nearest_unlinked = std::min(nearest_unlinked, square);
      }
    EXPECT_LT(farthest, nearest_unlinked);
    // On average, 8 of 600 random points lie in a disc or ball of the radius within which points
    // are connected.
    constexpr double kPi = 3.14159265358979;
    const double part = 8.0 / 600, square = std::string_view(dims) == "2"
                                                ? part / kPi
                                                : std::pow(part * 3 / (4 * kPi), 2.0 / 3);
    EXPECT_LE(farthest, square * (1 + 1e-9));
    EXPECT_GE(nearest_unlinked, square * (1 - 1e-9));
    EXPECT_GT(workload.messages.size(), 600u * 4);  // the mean degree is below 8: points near the
                                                    // border have fewer
    EXPECT_LT(workload.messages.size(), 600u * 9);
  }
}

TEST(Generate, leanmd_has_a_compute_task_for_each_cell_and_each_pair_of_neighbouring_cells) {
  const Workload workload = make("leanmd", 1875);
  ASSERT_EQ(workload.num_tasks(), 1875u);  // 125 cells, 125 * 14 compute tasks
  EXPECT_EQ(workload.messages.size(), 125u * 54);
  std::map<TaskId, std::set<TaskId>> cells_of;
  for (const Message& m : workload.messages) {
    ASSERT_NE(m.from < 125, m.to < 125);  // a cell (below 125) and a compute task
    if (m.to < 125) cells_of[m.from].insert(m.to);
  }
  std::set<std::set<TaskId>> pairs;
  for (const auto& [compute, cells] : cells_of) pairs.insert(cells);
  EXPECT_EQ(pairs.size(), 125u * 14);  // per cell: 13 pairs of neighbours, and 1 with itself
  int alone = 0;
  for (const auto& cells : pairs) alone += cells.size() == 1;
  EXPECT_EQ(alone, 125);
}

TEST(Generate,
     leanmd_uses_the_box_of_cells_whose_number_of_tasks_is_nearest_to_the_requested_number) {
  EXPECT_EQ(make("leanmd", 405).num_tasks(), 405u);
  EXPECT_EQ(make("leanmd", 1800).num_tasks(), 1875u);
  EXPECT_EQ(make("leanmd", 1000000).num_tasks(), 15u * 40 * 41 * 41);
  EXPECT_THAT(error_of("leanmd", 100), HasSubstr("405 tasks in total"));
}

TEST(Generate, nbody_tasks_send_to_neighbours_on_a_space_filling_curve_and_in_a_tree) {
  // Each of 1000 tasks exchanges messages with the next three tasks on the space-filling curve: 999
  // + 998 + 997 pairs. For each power 2^j from 4 on, the tree adds the pairs of tasks whose numbers
  // are consecutive multiples of 2^j.
  std::size_t pairs = 999 + 998 + 997;
  for (std::size_t scale = 4; scale < 1000; scale *= 2) pairs += 999 / scale;
  EXPECT_EQ(make("nbody", 1000).messages.size(), 2 * pairs);
}

TEST(Generate, if_a_workload_has_clusters_of_tasks_most_bytes_are_sent_inside_clusters) {
  std::uint64_t own = 0, all = 0;
  for (const Message& m : make("clusters", 4096).messages) {
    all += m.bytes;
    if (m.from / 8 == m.to / 8) own += m.bytes;
  }
  EXPECT_GT(own, all / 2);
  EXPECT_LT(own, all);
}

TEST(Generate, a_task_picks_communication_partners_in_every_cluster_to_which_it_belongs) {
  // A task picks 3 partners in its cluster of 4 tasks, and 1 in each larger cluster that contains
  // it. With each step to a larger cluster, the messages to the partners picked there are half as
  // long. For each pick, the two tasks send each other one message.
  const auto bytes = [](TaskId tasks) {
    std::uint64_t sum = 0;
    for (const Message& m :
         make("clusters:fanout=4,degree=3,decay=0.5,messages=1,message_bytes=100", tasks).messages)
      sum += m.bytes;
    return sum;
  };
  EXPECT_EQ(bytes(4), 4u * 2 * 300);
  EXPECT_EQ(bytes(16), 16u * 2 * (300 + 50));
  EXPECT_EQ(bytes(64), 64u * 2 * (300 + 50 + 25));
}

TEST(Generate, load_distributions_have_the_requested_mean_and_spread) {
  const auto variance_of = [](std::string_view skew) {
    const Workload workload = make(fmt::format("ring:load_s=2,spread=0.4,skew={}", skew), 200000);
    EXPECT_NEAR(total_load_s(workload) / 200000, 2, 0.02) << skew;
    double squares = 0;
    for (const Task& task : workload.tasks) squares += std::pow(task.load_s / 2 - 1, 2);
    return squares / 200000;
  };
  EXPECT_EQ(variance_of("equal"), 0);
  EXPECT_NEAR(variance_of("uniform"), 0.4 * 0.4 / 3, 1e-3);
  EXPECT_NEAR(variance_of("lognormal"), std::exp(0.16) - 1, 5e-3);
  EXPECT_GT(variance_of("pareto"), 0.3);  // 0.8 in the limit of many tasks; converges
                                          // slowly because of the heavy tail
  EXPECT_NEAR(variance_of("quartic"), 0.4 * 0.4 * 16 / 9, 5e-3);
}

TEST(Generate, task_loads_of_the_benchmark_lb_test_are_from_50_to_200_ms_with_a_mean_of_80_ms) {
  const Workload workload = make("lb_test", 20000);
  for (const Task& task : workload.tasks) {
    EXPECT_GE(task.load_s, 0.05 - 1e-12);
    EXPECT_LE(task.load_s, 0.2 + 1e-12);
  }
  EXPECT_NEAR(total_load_s(workload) / 20000, 0.08, 0.001);
}

TEST(Generate, drift_changes_loads_but_neither_their_sum_nor_the_messages) {
  const auto phases =
      generate(parse_recipe("stencil3d:drift=0.3,hot_speed=0.1,hot_growth=0.5"), 1000, 5, 4);
  ASSERT_EQ(phases.size(), 4u);
  for (std::size_t phase = 1; phase < 4; ++phase) {
    EXPECT_NEAR(total_load_s(phases[phase]) / total_load_s(phases[0]), 1, 1e-12);
    EXPECT_EQ(phases[phase].messages.size(), phases[0].messages.size());
    int changed = 0;
    for (TaskId t = 0; t < 1000; ++t)
      changed += phases[phase].tasks[t].load_s != phases[phase - 1].tasks[t].load_s;
    EXPECT_GT(changed, 990);
  }
}

// After some thousand steps, factors of a random walk exceed the range of a double.
TEST(Generate, a_strong_drift_over_many_phases_leaves_loads_finite_and_does_not_change_their_sum) {
  const auto phases = generate(parse_recipe("ring:drift=3"), 50, 2, 7000);
  const double total_s = total_load_s(phases.front());
  for (const Workload& phase : phases)
    ASSERT_NEAR(total_load_s(phase), total_s, 1e-9 * total_s) << &phase - phases.data();
}

TEST(Generate,
     the_factors_of_a_random_walk_are_scaled_so_that_the_largest_is_between_one_half_and_1) {
  std::vector<Task> tasks{
      {.load_s = 1}, {.load_s = 0}, {.load_s = 2}, {.load_s = 4}, {.load_s = 8}};
  apply_walk({{0.5, 0}, {0.75, 5000}, {0.75, 2}, {0.5, -40}, {0.5, -1'000'000'000'000}}, tasks);
  EXPECT_EQ(tasks[0].load_s, 0.125);
  EXPECT_EQ(tasks[1].load_s, 0) << "a task without load does not change the others";
  EXPECT_EQ(tasks[2].load_s, 1.5);
  EXPECT_EQ(tasks[3].load_s, std::ldexp(1.0, -41));
  EXPECT_EQ(tasks[4].load_s, 0);
}

TEST(Generate, the_largest_factor_of_a_random_walk_can_belong_to_any_task) {
  for (std::size_t largest = 0; largest < 3; ++largest) {
    std::vector<Task> tasks(3, {.load_s = 1});
    std::vector<WideFactor> walk(3, {0.5, 4});
    walk[largest].exponent = 7;
    apply_walk(walk, tasks);
    for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(tasks[t].load_s, t == largest ? 0.5 : 0.0625);
  }
}

TEST(Generate, refuses_a_growth_of_the_hot_region_that_makes_loads_negative) {
  const auto error_in_phases = [](const char* recipe) {
    return text_of_error([&] { generate(parse_recipe(recipe), 100, 1, 3); });
  };
  EXPECT_EQ(error_in_phases("ring:hot=0.5,hot_growth=0.5"), "no error")
      << "the factor in phase 2 is 0";
  EXPECT_THAT(error_in_phases("ring:hot=0.5,hot_growth=0.6"),
              HasSubstr("hot_growth makes loads negative in phase 2"));
}

TEST(Generate, without_drift_every_phase_is_the_same) {
  const auto phases = generate(parse_recipe("stencil3d"), 1000, 5, 3);
  EXPECT_EQ(hash_of(phases[0]), hash_of(phases[2]));
  EXPECT_EQ(hash_of(phases[0]), hash_of(make("stencil3d", 1000, 5)));
}

TEST(Generate, the_region_of_high_load_moves_to_the_opposite_corner_of_the_grid_and_back) {
  const auto phases = generate(parse_recipe("stencil2d:skew=equal,hot_speed=0.5"), 400, 5, 3);
  const auto is_hot = [&](std::size_t phase, TaskId t) {
    return phases[phase].tasks[t].load_s > 2 * phases[phase].tasks[phase == 1 ? 0 : 399].load_s;
  };
  EXPECT_TRUE(is_hot(0, 0));
  EXPECT_FALSE(is_hot(0, 399));
  EXPECT_TRUE(is_hot(1, 399));
  EXPECT_FALSE(is_hot(1, 0));
  EXPECT_TRUE(is_hot(2, 0));
}

// The region's start is a product such as 3 * 0.1, which is rounded. The rounding must not shift
// the region by a column.
TEST(Generate, rounding_does_not_change_which_columns_are_in_the_region_of_high_load) {
  constexpr int kColumns = 11;
  const auto phases =
      generate(parse_recipe("stencil2d:skew=equal,hot=2,hot_extent=0.3,hot_speed=0.1"),
               kColumns * kColumns, 1, 20);
  const auto is_hot = [](int column, int phase) {
    // `ahead` is the distance from the start of the hot region to the column, in percent of the
    // axis. The last column is just below 100 %, so it counts as 99 %.
    const int ahead = (column == kColumns - 1 ? 99 : 10 * column) - 10 * (phase % 10);
    return (ahead + 100) % 100 < 30;
  };
  for (int phase = 0; phase < 20; ++phase) {
    const Workload& workload = phases[phase];
    const double cold_s =
        std::min_element(workload.tasks.begin(), workload.tasks.end(),
                         [](const Task& a, const Task& b) { return a.load_s < b.load_s; })
            ->load_s;
    for (TaskId t = 0; t < workload.num_tasks(); ++t) {
      const auto& at = workload.positions[t];
      EXPECT_EQ(workload.tasks[t].load_s > 1.5 * cold_s,
                is_hot(std::lround(at[0]), phase) && is_hot(std::lround(at[1]), phase))
          << "phase " << phase << ", column " << at[0] << ", row " << at[1];
    }
  }
}

TEST(Generate, the_messages_do_not_depend_on_the_distribution_of_the_loads) {
  EXPECT_EQ(counts_of(make("random:skew=equal", 300)), counts_of(make("random:skew=pareto", 300)));
}

TEST(Generate, a_recipe_is_unchanged_after_writing_it_as_text_and_reading_it_back) {
  const Recipe recipe = parse_recipe("stencil3d:skew=uniform,message_bytes=2000");
  EXPECT_EQ(recipe.text(), "stencil3d:skew=uniform,message_bytes=2000");
  EXPECT_EQ(parse_recipe(recipe.text()).text(), recipe.text());
  EXPECT_EQ(parse_recipe("ring").text(), "ring");
}

TEST(Generate, accepts_the_largest_spread_of_each_distribution) {
  for (const char* most : {"equal,spread=3", "uniform,spread=1", "lognormal,spread=3",
                           "pareto,spread=0.95", "quartic,spread=1"}) {
    const Workload workload = make(fmt::format("ring:skew={}", most), 1000);
    for (const Task& task : workload.tasks) ASSERT_GE(task.load_s, 0) << most;
  }
}

TEST(Generate, invalid_workload_recipes_are_refused_and_the_error_says_what_would_work) {
  EXPECT_THAT(error_of("stencil3"), HasSubstr("did you mean \"stencil"));
  EXPECT_THAT(error_of("ring:kk=3"), HasSubstr("did you mean \"k\""));
  EXPECT_THAT(
      error_of("ring:skew=gauss"),
      HasSubstr("is not allowed; the choices are equal, uniform, lognormal, pareto, quartic"));
  EXPECT_THAT(error_of("ring:skew=uniform,spread=2"), HasSubstr("use a spread from 0 to 1"));
  EXPECT_THAT(error_of("ring:skew=pareto,spread=1"), HasSubstr("use a spread from 0 to 0.95"));
  EXPECT_THAT(error_of("ring:skew=quartic,spread=1.01"), HasSubstr("use a spread from 0 to 1"));
  EXPECT_THAT(error_of("rmat:a=0.9,b=0.9"), HasSubstr("at most 1"));
  EXPECT_THAT(error_of("ring", 0), HasSubstr("at least 1"));
}

}  // namespace
}  // namespace poise
