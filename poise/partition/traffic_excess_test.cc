// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/traffic_excess.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/partition/rank_slots.h"

namespace poise {
namespace {

using graphs::Graph;
using graphs::Vertex;

constexpr Vertex kRanks = 12;

/// The bytes of each node under a map, computed from the messages.
struct NodeBytes {
  std::vector<double> out, in, inside;
  double internode = 0;
};

struct Example {
  Machine machine = machine_from_text("node:4 core:3");
  RankDistances distances{machine, Distance::hops};
  std::vector<PlaceId> slots = rank_slots(machine, kRanks, {});
  Workload workload;
  Graph graph;
  std::vector<double> sent = std::vector<double>(kRanks, 0);

  Example(Random& random, bool is_symmetric) {
    workload.tasks.resize(kRanks);
    for (TaskId a = 0; a < kRanks; ++a)
      for (TaskId b = 0; b < kRanks; ++b) {
        if (a == b || (is_symmetric ? a > b : random.below(3) > 0)) continue;
        const std::uint64_t bytes = 2 * (1 + random.below(100));
        workload.messages.push_back({a, b, 1, bytes});
        if (is_symmetric) workload.messages.push_back({b, a, 1, bytes});
      }
    for (const Message& m : workload.messages) sent[m.from] += m.bytes;
    graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
  }

  RankProblem problem() const { return {graph, machine, distances, slots}; }
  NodeId node(Slot slot) const { return slot / 3; }

  NodeBytes bytes(const std::vector<Slot>& slot_of) const {
    NodeBytes sums{std::vector<double>(4, 0), std::vector<double>(4, 0), std::vector<double>(4, 0)};
    for (const Message& m : workload.messages) {
      const NodeId from = node(slot_of[m.from]), to = node(slot_of[m.to]);
      if (from == to) {
        sums.inside[from] += m.bytes;
      } else {
        sums.out[from] += m.bytes;
        sums.in[to] += m.bytes;
        sums.internode += m.bytes;
      }
    }
    return sums;
  }
};

double over(double bytes, double limit) { return std::max(0.0, bytes - limit); }

double over_of_node(const NodeBytes& bytes, NodeId n, const TrafficLimits& limits) {
  return over(bytes.in[n] + bytes.out[n], limits.node_bytes) +
         over(std::max(bytes.in[n], bytes.out[n]), limits.card_bytes);
}

double excess_of(const NodeBytes& bytes, const TrafficLimits& limits) {
  double sum = over(bytes.internode, limits.internode_bytes);
  for (NodeId n = 0; n < 4; ++n) sum += over_of_node(bytes, n, limits);
  return sum;
}

/// Makes 100 random exchanges, and compares the predicted changes with changes computed from the
/// definition.
void expect_exact_changes(const Example& example, const TrafficLimits& limits, bool has_table,
                          Random& random) {
  std::vector<Slot> slot_of(kRanks);
  std::iota(slot_of.begin(), slot_of.end(), 0);
  const RankProblem problem = example.problem();
  TrafficExcess excess(problem, limits);
  ASSERT_TRUE(excess.is_on());
  if (has_table) excess.tabulate(slot_of);
  excess.start_from(slot_of);
  for (int i = 0; i < 100; ++i) {
    if (i % 25 == 24) {
      std::reverse(slot_of.begin(), slot_of.end());
      excess.start_from(slot_of);
    }
    const Vertex v = random.below(kRanks), u = random.below(kRanks);
    if (v == u) continue;
    const NodeId a = example.node(slot_of[v]), b = example.node(slot_of[u]);
    std::vector<Slot> swapped = slot_of;
    std::swap(swapped[v], swapped[u]);
    const NodeBytes before = example.bytes(slot_of), after = example.bytes(swapped);
    const InsideChange inside{after.inside[a] - before.inside[a],
                              after.inside[b] - before.inside[b]};
    if (has_table && a != b) {
      const InsideChange found = excess.inside(v, u, graphs::affinity_between(example.graph, v, u));
      EXPECT_DOUBLE_EQ(found.here, inside.here);
      EXPECT_DOUBLE_EQ(found.there, inside.there);
    }
    EXPECT_NEAR(excess.change(v, a, u, b, inside),
                excess_of(after, limits) - excess_of(before, limits), 1e-9);
    EXPECT_NEAR(excess.removable(a, b),
                over(before.internode, limits.internode_bytes) + over_of_node(before, a, limits) +
                    over_of_node(before, b, limits),
                1e-9);
    excess.exchange(v, a, u, b, inside);
    slot_of = swapped;
  }
}

TEST(TrafficExcess,
     predicts_by_how_many_bytes_the_traffic_exceeds_the_limits_after_two_ranks_are_swapped) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Example example(random, false);
    std::vector<Slot> slot_of(kRanks);
    std::iota(slot_of.begin(), slot_of.end(), 0);
    const NodeBytes start = example.bytes(slot_of);
    TrafficLimits limits;
    limits.sent = example.sent;
    if (seed % 4 != 1) limits.node_bytes = start.in[0] + start.out[0];
    if (seed % 4 != 2) limits.internode_bytes = 0.98 * start.internode;
    if (seed % 4 != 3) limits.card_bytes = 0.9 * std::max(start.in[1], start.out[1]);
    expect_exact_changes(example, limits, seed % 3 == 0, random);
  }
}

TEST(TrafficExcess, ranks_are_assumed_to_send_half_of_their_bytes_if_directions_are_unknown) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Example example(random, true);
    expect_exact_changes(example, {.node_bytes = 900, .internode_bytes = 4000, .card_bytes = 400},
                         seed % 2 == 0, random);
  }
}

TEST(TrafficExcess, is_off_if_no_limit_is_set) {
  Random random(1);
  const Example example(random, true);
  EXPECT_FALSE(TrafficExcess(example.problem(), {}).is_on());
  EXPECT_TRUE(TrafficExcess(example.problem(), {.card_bytes = 1}).is_on());
}

}  // namespace
}  // namespace poise
