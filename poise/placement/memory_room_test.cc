// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/memory_room.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"

namespace poise {
namespace {

Workload drawn_workload(TaskId num_tasks, std::uint32_t num_places, std::uint64_t seed) {
  Random random(seed);
  Workload workload;
  workload.shared_block_bytes = {50, 70, 90};
  for (TaskId t = 0; t < num_tasks; ++t) {
    workload.tasks.push_back({.load_s = 1 + random.uniform()});
    workload.memory.push_back({.footprint_bytes = 1 + random.below(20),
                               .working_bytes = random.below(40),
                               .shared_block = static_cast<std::int32_t>(random.below(4)) - 1});
  }
  for (PlaceId p = 0; p < num_places; ++p) workload.place_bytes.push_back(random.below(30));
  return workload;
}

/// Computes the memory of a place directly from its definition.
std::uint64_t bytes_at(const Workload& workload, const Placement& placement, PlaceId p) {
  std::uint64_t bytes = workload.place_bytes[p], working = 0;
  std::set<std::int32_t> blocks;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    if (placement.of(t) != p) continue;
    const TaskMemory& memory = workload.memory[t];
    bytes += memory.footprint_bytes;
    working = std::max(working, memory.working_bytes);
    if (memory.shared_block >= 0) blocks.insert(memory.shared_block);
  }
  for (const std::int32_t block : blocks)
    bytes += workload.shared_block_bytes[static_cast<std::size_t>(block)];
  return bytes + working;
}

TEST(MemoryRoom, used_memory_and_free_room_equal_those_computed_anew_after_every_move) {
  const Machine machine = machine_from_text("numa:2 core:3 factors:2,1");
  const Workload workload = drawn_workload(40, 6, 1);
  Placement placement = initial_placement("random", 40, 6, 3);
  constexpr std::uint64_t kCap = 330;
  MemoryRoom room(machine, workload, placement, kCap);
  Random random(5);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const auto t = static_cast<TaskId>(random.below(40)), u = static_cast<TaskId>(random.below(40));
    const auto to = static_cast<PlaceId>(random.below(6));
    Placement moved = placement;
    moved.move(t, to);
    const bool fits = to == placement.of(t) || bytes_at(workload, moved, to) <= kCap;
    ASSERT_EQ(room.fits(t, to), fits);
    refused += !fits;
    if (placement.of(t) != placement.of(u)) {
      Placement swapped = placement;
      swapped.move(t, placement.of(u));
      swapped.move(u, placement.of(t));
      ASSERT_EQ(room.fits_exchange(t, u), bytes_at(workload, swapped, placement.of(t)) <= kCap &&
                                              bytes_at(workload, swapped, placement.of(u)) <= kCap);
    }
    room.move(t, to);
    placement = moved;
    for (PlaceId p = 0; p < 6; ++p) ASSERT_EQ(room.bytes_at(p), bytes_at(workload, placement, p));
  }
  EXPECT_GT(refused, 50);
}

TEST(MemoryRoom, keeps_to_the_memory_size_of_each_domain_if_the_machine_states_it) {
  MachineParts parts = machine_from_text("numa:2 core:2 factors:2,1").parts();
  parts.facts.memory_bytes = {100, 1000};
  const Machine machine{parts};
  Workload workload;
  workload.tasks.assign(3, {.load_s = 1});
  workload.memory.assign(3, {.footprint_bytes = 60});
  const Placement current(std::vector<PlaceId>{0, 2, 3});
  MemoryRoom room(machine, workload, current, 0);
  EXPECT_TRUE(room.fits(0, 1));  // a move inside a domain leaves its memory use as it is
  EXPECT_FALSE(room.fits(1, 1));
  EXPECT_TRUE(room.fits(1, 3));
}

TEST(MemoryRoom, strategies_move_tasks_away_from_full_places_to_places_with_room) {
  const Machine machine = machine_from_text("core:4");
  const Workload workload = drawn_workload(40, 4, 2);
  constexpr std::uint64_t kCap = 420;
  const Placement placed =
      within_memory(machine, workload, Placement(40, 0), Placement(40, 3), kCap);
  for (PlaceId p = 0; p < 4; ++p) EXPECT_LE(bytes_at(workload, placed, p), kCap);
  MemoryRoom room(machine, workload, placed, kCap);
  for (TaskId t = 0; t < 40; ++t) EXPECT_EQ(room.fits(t, 3), placed.of(t) == 3) << t;
}

TEST(MemoryRoom, tasks_leave_one_full_place_in_less_than_quadratic_time) {
  // If each task examined all places, this test would run for minutes.
  constexpr TaskId kTasks = 150'000;
  for (const bool domains_are_full : {false, true}) {
    MachineParts parts = machine_from_text("node:100 core:200").parts();
    parts.facts.memory_bytes.assign(100, domains_are_full ? 0 : 2000);
    const Machine machine{parts};
    Workload workload;
    workload.tasks.resize(kTasks);
    workload.memory.assign(kTasks, {.footprint_bytes = 1});
    const Placement crowded(kTasks);
    const Placement placed = within_memory(machine, workload, crowded, crowded, 10);
    std::vector<TaskId> at(machine.num_places(), 0);
    for (TaskId t = 0; t < kTasks; ++t) ++at[placed.of(t)];
    if (domains_are_full)
      EXPECT_EQ(placed, crowded);
    else
      EXPECT_LE(*std::max_element(at.begin(), at.end()), 10u);
  }
}

}  // namespace
}  // namespace poise
