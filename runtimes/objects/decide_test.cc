#include "runtimes/objects/decide.h"

#include <gtest/gtest.h>
#include <numeric>

namespace poise::objects {
namespace {

constexpr ObjectId kObjects = 64;

/// Rank r's part of a workload that is heaviest on the first rank.
Measurements share_of(const World& world) {
  Measurements share;
  for (ObjectId id = 0; id < kObjects; ++id) {
    const auto place =
        static_cast<PlaceId>(std::uint64_t{id} * world.machine.num_places() / kObjects);
    if (world.rank_of(place) != world.rank) continue;
    const double load_s = id < kObjects / 4 ? 0.07 : 0.01;
    share.rows.push_back({.id = id, .place = place, .cpu_s = load_s, .bytes = 1000});
    share.messages.push_back({id, (id + 1) % kObjects, 1, 100});
  }
  share.places.push_back({world.own_places()[0], 0, 0});
  return share;
}

/// Of the ranks' loads under the decision: the largest over the average.
double imbalance_of(const World& world, const Placement& placement) {
  std::vector<double> loads(world.machine.num_places());
  for (ObjectId id = 0; id < kObjects; ++id)
    loads[placement.of(id)] += id < kObjects / 4 ? 0.07 : 0.01;
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  return *std::max_element(loads.begin(), loads.end()) * static_cast<double>(loads.size()) / sum;
}

void expect_balance(Mode mode, std::uint32_t ranks_per_host, double at_most) {
  SCOPED_TRACE(static_cast<int>(mode));
  Options options{.strategy = "greedy_refine", .mode = mode, .ranks_per_host = ranks_per_host};
  const World world = discover_world(MPI_COMM_WORLD, {1, ranks_per_host});
  Decider decider(MPI_COMM_WORLD, world, options, kObjects, 1);
  EXPECT_EQ(decider.mode(), mode);
  const Decision decision = decider.decide(share_of(world));
  EXPECT_EQ(decision.trouble, "");
  EXPECT_EQ(decision.phase.has_value(), world.rank == 0);
  EXPECT_LE(imbalance_of(world, decision.placement), at_most);
  EXPECT_NEAR(decision.imbalance_after, imbalance_of(world, decision.placement), 1e-9);
  int rank = 0;
  std::vector<PlaceId> of_root(decision.placement.places().begin(),
                               decision.placement.places().end());
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_UINT32_T, 0, MPI_COMM_WORLD);
  EXPECT_EQ(Placement(of_root), decision.placement) << "rank " << rank;
}

TEST(Decider, one_rank_or_all_of_them_come_to_a_balance) {
  expect_balance(Mode::root, 0, 1.06);
  expect_balance(Mode::replicated, 0, 1.06);
}

TEST(Decider, so_do_hosts_among_themselves_and_inside) {
  expect_balance(Mode::hierarchical, 0, 1.06);
  expect_balance(Mode::hierarchical, 1, 1.06);
  expect_balance(Mode::hierarchical, 2, 1.11);  // 5 % at each of two levels
}

void expect_no_change(const Options& options, const char* why) {
  SCOPED_TRACE(options.strategy);
  const World world = discover_world(MPI_COMM_WORLD, {1, options.ranks_per_host});
  Decider decider(MPI_COMM_WORLD, world, options, kObjects, 1);
  const Decision decision = decider.decide(share_of(world));
  EXPECT_EQ(decision.trouble.find(why) != std::string::npos, world.rank == 0) << decision.trouble;
  for (const ObjectRow& row : share_of(world).rows)
    EXPECT_EQ(decision.placement.of(row.id), row.place);
}

TEST(Decider, a_strategy_that_takes_too_long_is_not_waited_for_and_one_that_fails_changes_nothing) {
  for (const Mode mode : {Mode::root, Mode::replicated, Mode::hierarchical})
    for (const std::uint32_t ranks_per_host : {0u, 1u, 2u}) {
      const Options base{.mode = mode, .ranks_per_host = ranks_per_host};
      Options late = base, lost = base;
      late.strategy = "greedy";
      late.budget_s = 1e-9;
      lost.strategy = "orb";  // there are no positions
      expect_no_change(late, "longer than");
      expect_no_change(lost, "position");
    }
}

TEST(Decider, ranks_that_come_to_different_placements_keep_the_current_one) {
  const World world = discover_world(MPI_COMM_WORLD, {});
  const auto seed = static_cast<std::uint64_t>(world.rank + 1);
  Options options{.strategy = "random", .mode = Mode::replicated, .seed = seed};
  Decider decider(MPI_COMM_WORLD, world, options, kObjects, 1);
  const Decision decision = decider.decide(share_of(world));
  const bool is_alone = world.num_ranks == 1;
  EXPECT_EQ(decision.trouble.find("the same placement") != std::string::npos,
            world.rank == 0 && !is_alone);
  if (is_alone) return;
  for (const ObjectRow& row : share_of(world).rows)
    EXPECT_EQ(decision.placement.of(row.id), row.place);
}

TEST(Decider, two_levels_are_chosen_for_many_places_on_several_hosts) {
  for (const std::uint32_t places_per_rank : {1u, 300u})
    for (const std::uint32_t ranks_per_host : {0u, 1u, 2u}) {
      const World world = discover_world(MPI_COMM_WORLD, {places_per_rank, ranks_per_host});
      const Decider decider(MPI_COMM_WORLD, world, {}, kObjects, 1);
      const bool is_large = places_per_rank == 300 && world.num_hosts > 1;
      EXPECT_EQ(decider.mode(), is_large ? Mode::hierarchical : Mode::root);
    }
}

TEST(World, hosts_follow_one_another_along_the_places) {
  for (const std::uint32_t ranks_per_host : {0u, 1u, 2u, 3u})
    for (const std::uint32_t places_per_rank : {1u, 3u}) {
      const World world = discover_world(MPI_COMM_WORLD, {places_per_rank, ranks_per_host});
      const auto ranks = static_cast<std::uint32_t>(world.num_ranks);
      EXPECT_EQ(world.machine.num_places(), ranks * places_per_rank);
      EXPECT_EQ(world.num_hosts,
                ranks_per_host == 0 ? 1 : (ranks + ranks_per_host - 1) / ranks_per_host);
      EXPECT_EQ(world.machine.num_nodes(), world.num_hosts);
      for (PlaceId p = 0; p < world.machine.num_places(); ++p)
        EXPECT_EQ(world.machine.node_of_place(p),
                  world.host_of_rank[static_cast<std::size_t>(world.rank_of(p))]);
      for (int r = 0; r < world.num_ranks; ++r) {
        const auto& places = world.places_of_rank[static_cast<std::size_t>(r)];
        EXPECT_EQ(places.size(), places_per_rank);
        for (const PlaceId p : places) EXPECT_EQ(world.rank_of(p), r);
      }
    }
}

}  // namespace
}  // namespace poise::objects
