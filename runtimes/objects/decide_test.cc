// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/decide.h"

#include <gtest/gtest.h>
#include <numeric>

namespace poise::objects {
namespace {

constexpr ObjectId kObjects = 64;

/// Returns this rank's part of a workload that is heaviest on the first rank.
Measurements measurements_of(const JobLayout& layout) {
  Measurements own;
  for (ObjectId id = 0; id < kObjects; ++id) {
    const auto place =
        static_cast<PlaceId>(std::uint64_t{id} * layout.machine.num_places() / kObjects);
    if (layout.rank_of(place) != layout.rank) continue;
    const double load_s = id < kObjects / 4 ? 0.07 : 0.01;
    own.rows.push_back({.id = id, .place = place, .cpu_s = load_s, .bytes = 1000});
    own.messages.push_back({id, (id + 1) % kObjects, 1, 100});
  }
  own.places.push_back({layout.own_places()[0], 0, 0});
  return own;
}

/// Returns the load of the busiest place divided by the average load.
double imbalance_of(const JobLayout& layout, const Placement& placement) {
  std::vector<double> loads(layout.machine.num_places());
  for (ObjectId id = 0; id < kObjects; ++id)
    loads[placement.of(id)] += id < kObjects / 4 ? 0.07 : 0.01;
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  return *std::max_element(loads.begin(), loads.end()) * static_cast<double>(loads.size()) / sum;
}

void expect_balance(Mode mode, std::uint32_t ranks_per_host, double at_most) {
  SCOPED_TRACE(static_cast<int>(mode));
  Options options{.strategy = "greedy_refine", .mode = mode, .ranks_per_host = ranks_per_host};
  const JobLayout layout = discover_layout(MPI_COMM_WORLD, {1, ranks_per_host});
  Decider decider(MPI_COMM_WORLD, layout, options, kObjects, 1);
  EXPECT_EQ(decider.mode(), mode);
  const Decision decision = decider.decide(measurements_of(layout));
  EXPECT_EQ(decision.failure, "");
  EXPECT_EQ(decision.phase.has_value(), layout.rank == 0);
  EXPECT_LE(imbalance_of(layout, decision.placement), at_most);
  EXPECT_NEAR(decision.imbalance_after, imbalance_of(layout, decision.placement), 1e-9);
  int rank = 0;
  std::vector<PlaceId> of_root(decision.placement.places().begin(),
                               decision.placement.places().end());
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_UINT32_T, 0, MPI_COMM_WORLD);
  EXPECT_EQ(Placement(of_root), decision.placement) << "rank " << rank;
}

TEST(Decider, placements_are_balanced_whether_rank_0_or_every_rank_computes_them) {
  expect_balance(Mode::root, 0, 1.06);
  expect_balance(Mode::replicated, 0, 1.06);
}

TEST(Decider, placements_are_balanced_if_hosts_are_balanced_first_and_then_the_places_of_each) {
  expect_balance(Mode::hierarchical, 0, 1.06);
  expect_balance(Mode::hierarchical, 1, 1.06);
  expect_balance(Mode::hierarchical, 2, 1.11);  // each of the two levels may be off by 5 %
}

void expect_no_change(const Options& options, const char* why) {
  SCOPED_TRACE(options.strategy);
  const JobLayout layout = discover_layout(MPI_COMM_WORLD, {1, options.ranks_per_host});
  Decider decider(MPI_COMM_WORLD, layout, options, kObjects, 1);
  const Decision decision = decider.decide(measurements_of(layout));
  EXPECT_EQ(decision.failure.find(why) != std::string::npos, layout.rank == 0) << decision.failure;
  for (const ObjectRow& row : measurements_of(layout).rows)
    EXPECT_EQ(decision.placement.of(row.id), row.place);
}

TEST(Decider, keeps_the_placement_if_the_strategy_fails_or_exceeds_its_budget) {
  for (const Mode mode : {Mode::root, Mode::replicated, Mode::hierarchical})
    for (const std::uint32_t ranks_per_host : {0u, 1u, 2u}) {
      const Options base{.mode = mode, .ranks_per_host = ranks_per_host};
      Options late = base, lost = base;
      late.strategy = "greedy";
      late.budget_s = 1e-9;
      lost.strategy = "orb";  // the strategy needs positions, which these objects do not have
      expect_no_change(late, "longer than");
      expect_no_change(lost, "position");
    }
}

TEST(Decider, keeps_the_placement_if_ranks_compute_different_ones) {
  const JobLayout layout = discover_layout(MPI_COMM_WORLD, {});
  const auto seed = static_cast<std::uint64_t>(layout.rank + 1);
  Options options{.strategy = "random", .mode = Mode::replicated, .seed = seed};
  Decider decider(MPI_COMM_WORLD, layout, options, kObjects, 1);
  const Decision decision = decider.decide(measurements_of(layout));
  const bool is_alone = layout.num_ranks == 1;
  EXPECT_EQ(decision.failure.find("different placements") != std::string::npos,
            layout.rank == 0 && !is_alone);
  if (is_alone) return;
  for (const ObjectRow& row : measurements_of(layout).rows)
    EXPECT_EQ(decision.placement.of(row.id), row.place);
}

TEST(Decider, mode_auto_uses_two_levels_for_many_places_on_several_hosts) {
  for (const std::uint32_t places_per_rank : {1u, 300u})
    for (const std::uint32_t ranks_per_host : {0u, 1u, 2u}) {
      const JobLayout layout = discover_layout(MPI_COMM_WORLD, {places_per_rank, ranks_per_host});
      const Decider decider(MPI_COMM_WORLD, layout, {}, kObjects, 1);
      const bool is_large = places_per_rank == 300 && layout.num_hosts > 1;
      EXPECT_EQ(decider.mode(), is_large ? Mode::hierarchical : Mode::root);
    }
}

TEST(JobLayout, places_of_one_host_have_consecutive_numbers) {
  for (const std::uint32_t ranks_per_host : {0u, 1u, 2u, 3u})
    for (const std::uint32_t places_per_rank : {1u, 3u}) {
      const JobLayout layout = discover_layout(MPI_COMM_WORLD, {places_per_rank, ranks_per_host});
      const auto ranks = static_cast<std::uint32_t>(layout.num_ranks);
      EXPECT_EQ(layout.machine.num_places(), ranks * places_per_rank);
      EXPECT_EQ(layout.num_hosts,
                ranks_per_host == 0 ? 1 : (ranks + ranks_per_host - 1) / ranks_per_host);
      EXPECT_EQ(layout.machine.num_nodes(), layout.num_hosts);
      for (PlaceId p = 0; p < layout.machine.num_places(); ++p)
        EXPECT_EQ(layout.machine.node_of_place(p),
                  layout.host_of_rank[static_cast<std::size_t>(layout.rank_of(p))]);
      for (int r = 0; r < layout.num_ranks; ++r) {
        const auto& places = layout.places_of_rank[static_cast<std::size_t>(r)];
        EXPECT_EQ(places.size(), places_per_rank);
        for (const PlaceId p : places) EXPECT_EQ(layout.rank_of(p), r);
      }
    }
}

}  // namespace
}  // namespace poise::objects
