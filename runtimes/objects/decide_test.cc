// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/decide.h"

#include <gtest/gtest.h>
#include <numeric>

#include "runtimes/objects/decision_testing.h"

namespace poise::objects {
namespace {

constexpr ObjectId kObjects = 64;

/// A workload that is heaviest on the first rank.
Workload lopsided() {
  Workload workload;
  for (ObjectId id = 0; id < kObjects; ++id) {
    workload.tasks.push_back({id < kObjects / 4 ? 0.07 : 0.01, 1000, true});
    workload.messages.push_back({id, (id + 1) % kObjects, 1, 100});
  }
  return workload;
}

Placement start(const JobLayout& layout) { return blocked(kObjects, layout.machine.num_places()); }

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
  Job job({.strategy = "greedy_refine", .mode = mode, .ranks_per_host = ranks_per_host}, lopsided(),
          start);
  const Decision decision = job.decide();
  EXPECT_EQ(decision.failure, "");
  EXPECT_EQ(decision.phase.has_value(), job.layout().rank == 0 && mode != Mode::hierarchical);
  const Placement placement = job.after(decision.plan);
  EXPECT_LE(imbalance_of(job.layout(), placement), at_most);
  EXPECT_NEAR(decision.imbalance_after, imbalance_of(job.layout(), placement), 1e-9);
  EXPECT_NEAR(decision.imbalance_before, imbalance_of(job.layout(), start(job.layout())), 1e-9);
  EXPECT_EQ(decision.placement, mode == Mode::hierarchical ? Placement() : placement);
}

TEST(Decider,
     balances_loads_if_rank_0_decides_and_also_if_every_rank_computes_the_decision_itself) {
  expect_balance(Mode::root, 0, 1.06);
  expect_balance(Mode::replicated, 0, 1.06);
}

TEST(Decider, balances_loads_if_all_ranks_decide_together) {
  expect_balance(Mode::hierarchical, 0, 1.06);
  expect_balance(Mode::hierarchical, 1, 1.06);
  // Balancing between hosts and balancing within a host may each leave an imbalance of 1.05, and
  // 1.05 * 1.05 is less than 1.11.
  expect_balance(Mode::hierarchical, 2, 1.11);
}

void expect_no_change(const CollectionOptions& options, const char* why) {
  SCOPED_TRACE(options.strategy);
  Job job(options, lopsided(), start);
  const Decision decision = job.decide();
  EXPECT_EQ(decision.failure.find(why) != std::string::npos, job.layout().rank == 0)
      << decision.failure;
  EXPECT_EQ(job.after(decision.plan), start(job.layout()));
  EXPECT_EQ(decision.plan.num_migrations, 0u);
  EXPECT_EQ(decision.imbalance_after, decision.imbalance_before);
}

TEST(Decider, no_object_moves_if_the_strategy_fails_or_exceeds_its_time_budget) {
  for (const Mode mode : {Mode::root, Mode::replicated, Mode::hierarchical})
    for (const std::uint32_t ranks_per_host : {0u, 1u, 2u}) {
      const CollectionOptions base{.mode = mode, .ranks_per_host = ranks_per_host};
      CollectionOptions late = base, lost = base;
      late.strategy = "greedy";
      late.budget_s = 1e-9;
      lost.strategy = "orb";  // the strategy needs positions, which these objects do not have
      expect_no_change(late, "longer than");
      expect_no_change(lost, "position");
    }
}

TEST(Decider, no_object_moves_if_ranks_compute_different_placements) {
  int rank = 0, num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const auto seed = static_cast<std::uint64_t>(rank + 1);
  if (num_ranks > 1)
    expect_no_change({.strategy = "random", .mode = Mode::replicated, .seed = seed},
                     "different placements");
}

TEST(Decider, mode_auto_becomes_hierarchical_only_with_many_places_on_several_hosts) {
  for (const std::uint32_t places_per_rank : {1u, 300u})
    for (const std::uint32_t ranks_per_host : {0u, 1u, 2u}) {
      const JobLayout layout = discover_layout(MPI_COMM_WORLD, {places_per_rank, ranks_per_host});
      const bool is_large = places_per_rank == 300 && layout.num_hosts > 1;
      EXPECT_EQ(chosen_mode(layout, {}), is_large ? Mode::hierarchical : Mode::root);
      EXPECT_EQ(chosen_mode(layout, {.strategy = "orb"}), Mode::root);
      EXPECT_EQ(chosen_mode(layout, {.subphase_of_step = [](std::uint64_t) { return 0u; }}),
                Mode::root);
      EXPECT_EQ(chosen_mode(layout, {.mode = Mode::replicated}), Mode::replicated);
    }
}

TEST(JobLayout, places_of_one_host_have_consecutive_ids) {
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
