// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/memory_pressure.h"

#include <gmock/gmock.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"
#include "poise/simulate/iteration.h"
#include "poise/simulate/traffic.h"

namespace poise {
namespace {

using testing::ElementsAre;

// Two domains of two places; packing and unpacking a byte take 1 ns each, messages take no time.
Machine machine() {
  return machine_from_text("numa:2 core:2 factors:1,1 latency:1e-9 overhead:0 copy:0 gap:0 bus:0");
}

// Task t is on place t and migrates 60 bytes.
Workload workload() {
  Workload workload;
  for (int t = 0; t < 4; ++t) workload.tasks.push_back({.load_s = 1, .bytes = 60});
  return workload;
}

const Placement kBefore({0, 1, 2, 3});

TEST(MemoryPressure, memory_up_to_80_percent_full_slows_nothing_down) {
  EXPECT_THAT(unpacking_factors(machine(), workload(), kBefore, Placement({1, 1, 2, 3}), {5, 150}),
              ElementsAre(1, 1, 1, 1));
}

TEST(MemoryPressure,
     full_memory_slows_unpacking_by_the_given_factor_and_overfull_memory_slows_it_more) {
  const Placement after({1, 1, 2, 3});  // place 1 holds 120 bytes
  EXPECT_DOUBLE_EQ(unpacking_factors(machine(), workload(), kBefore, after, {5, 120})[1], 5);
  EXPECT_DOUBLE_EQ(unpacking_factors(machine(), workload(), kBefore, after, {5, 100})[1], 9);
}

TEST(MemoryPressure, tasks_that_move_away_occupy_memory_until_all_tasks_have_moved) {
  const Placement after({1, 0, 2, 3});  // for a while, places 0 and 1 both hold tasks 0 and 1
  EXPECT_THAT(unpacking_factors(machine(), workload(), kBefore, after, {5, 120}),
              ElementsAre(5, 5, 1, 1));
}

TEST(MemoryPressure,
     if_the_memory_of_places_is_unknown_they_share_the_memory_of_their_domain_equally) {
  MachineParts parts = machine().parts();
  parts.facts.memory_bytes = {240, 120};
  const Machine known(std::move(parts));
  EXPECT_THAT(unpacking_factors(known, workload(), kBefore, kBefore, {5, 0}),
              ElementsAre(1, 1, 5, 5));
  EXPECT_THROW(unpacking_factors(machine(), workload(), kBefore, kBefore, {5, 0}), Error);
}

TEST(MemoryPressure,
     memory_in_use_includes_task_footprints_and_other_memory_of_the_program_if_they_are_known) {
  Workload known = workload();
  known.memory.assign(4, {.footprint_bytes = 10});
  known.place_bytes = {90, 0, 0, 0};
  EXPECT_DOUBLE_EQ(unpacking_factors(machine(), known, kBefore, kBefore, {2, 100})[0], 2);
}

TEST(MemoryPressure, above_80_percent_of_the_memory_the_factor_grows_linearly) {
  // The places hold 60, 120, 60 and 60 of 130 bytes.
  const Placement after({1, 1, 2, 3});
  const double share = 120 / 130.0;
  EXPECT_THAT(
      unpacking_factors(machine(), workload(), kBefore, after, {4, 130}),
      testing::Pointwise(testing::DoubleNear(1e-12), {1.0, 1 + 3 * (share - 0.8) / 0.2, 1.0, 1.0}));
  EXPECT_THAT(unpacking_factors(machine(), workload(), kBefore, after, {1, 70}),
              ElementsAre(1, 1, 1, 1));
}

TEST(MemoryPressure, the_memory_of_a_domain_holds_the_tasks_of_all_its_places) {
  MachineParts parts = machine().parts();
  parts.facts.memory_bytes = {200, 150};
  const Machine known(std::move(parts));
  // Domain 0 holds 120 bytes, domain 1 holds 120 bytes and a task that arrives from place 0.
  EXPECT_THAT(unpacking_factors(known, workload(), kBefore, Placement({2, 1, 2, 3}), {3, 0}),
              testing::Pointwise(testing::DoubleNear(1e-12),
                                 {1.0, 1.0, 1 + 2 * (1.2 - 0.8) / 0.2, 1 + 2 * (1.2 - 0.8) / 0.2}));
}

TEST(MemoryPressure,
     unknown_memory_sizes_are_refused_if_the_simulation_slows_unpacking_in_full_memory) {
  EXPECT_NO_THROW(check({1, 0}, machine()));
  EXPECT_NO_THROW(check({2, 1}, machine()));
  EXPECT_THROW(check({1.5, 0}, machine()), Error);
  MachineParts parts = machine().parts();
  parts.facts.memory_bytes = {200, 150};
  EXPECT_NO_THROW(check({2, 0}, Machine(std::move(parts))));
}

TEST(MemoryPressure, full_memory_slows_unpacking_but_not_packing) {
  const Workload moved = workload();
  const Placement after({1, 1, 2, 3});
  const Machine on = machine();
  const auto seconds = [&](std::vector<double> unpacking) {
    const Traffic traffic =
        migration_traffic(on, moved, on.costs(), kBefore, after, 4096, unpacking);
    EXPECT_EQ(traffic.pairs().size(), 1u);
    const Traffic::Pair& pair = traffic.pairs()[0];
    return pair.sender_s + 1000 * pair.receiver_s;
  };
  const double pack_s = seconds({}) / 1001;
  EXPECT_GT(pack_s, 0);
  EXPECT_DOUBLE_EQ(seconds({7, 3, 7, 7}), pack_s * 3001);
}

}  // namespace
}  // namespace poise
