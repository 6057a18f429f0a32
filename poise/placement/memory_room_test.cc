// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/memory_room.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/seeds.h"

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

TEST(MemoryRoom, limits_each_domain_to_its_memory_size_if_the_machine_specifies_it) {
  MachineParts parts = machine_from_text("numa:2 core:2 factors:2,1").parts();
  parts.facts.memory_bytes = {100, 1000};
  const Machine machine{parts};
  Workload workload;
  workload.tasks.assign(3, {.load_s = 1});
  workload.memory.assign(3, {.footprint_bytes = 60});
  const Placement current(std::vector<PlaceId>{0, 2, 3});
  MemoryRoom room(machine, workload, current, 0);
  EXPECT_TRUE(room.fits(0, 1));  // a move inside a domain does not change the domain's memory use
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

TEST(MemoryRoom, moving_tasks_away_from_a_place_with_full_memory_takes_less_than_quadratic_time) {
  POISE_SKIP_IF_SLOW();
  // If each task examined all places, this test would run for minutes.
  constexpr TaskId kTasks = fewer_if_sanitized(150'000);
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

/// The memory of a domain computed directly from its definition.
std::uint64_t domain_bytes(const Machine& machine, const Workload& workload,
                           const Placement& placement, DomainId domain) {
  std::uint64_t bytes = 0;
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    if (machine.domain_of(p) == domain) bytes += bytes_at(workload, placement, p);
  return bytes;
}

/// A machine of three domains of unequal memory, each with one to three places.
Machine with_memory(std::vector<std::uint64_t> memory_bytes) {
  MachineParts parts = machine_from_text("numa:3 core:2 factors:2,1").parts();
  const DomainId domains[] = {0, 1, 1, 2, 2, 2};
  for (PlaceId p = 0; p < 6; ++p) parts.places[p].domain = domains[p];
  parts.levels[0].first_place = {0, 1, 3, 6};
  parts.facts.memory_bytes = std::move(memory_bytes);
  return Machine(parts);
}

TEST(MemoryRoom,
     counts_places_and_domains_with_too_little_memory_and_names_the_worst_place_and_domain) {
  Workload workload;
  workload.tasks.assign(6, {.load_s = 1});
  for (const std::uint64_t bytes : {10, 20, 30, 40, 50, 25})
    workload.memory.push_back({.footprint_bytes = bytes});
  const Placement one_each(std::vector<PlaceId>{0, 1, 2, 3, 4, 5});
  const auto numbers = [](const MemoryRoom::Excess& excess) {
    return std::tuple(excess.count, excess.worst, excess.bytes);
  };
  const MemoryRoom room(with_memory({10, 40, 90}), workload, one_each, 28);
  EXPECT_EQ(numbers(room.places_over()), std::tuple(3u, 4u, 22u));
  EXPECT_EQ(numbers(room.domains_over()), std::tuple(2u, 2u, 25u));
  for (const auto& memory : {std::vector<std::uint64_t>{}, {10, 50, 115}}) {
    const MemoryRoom large(with_memory(memory), workload, one_each, 50);
    EXPECT_EQ(large.places_over().count + large.domains_over().count, 0u);
  }
}

TEST(MemoryRoom, agrees_with_a_full_computation_of_caps_and_memory_use_after_every_move) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const std::uint64_t caps[] = {250, 600, 800};
    const Machine machine = with_memory({caps[0], caps[1], caps[2]});
    const Workload workload = drawn_workload(30, 6, seed);
    Placement placement = initial_placement("random", 30, 6, seed);
    const std::uint64_t place_cap = seed % 3 == 0 ? 0 : 330;
    const std::uint64_t cap = place_cap == 0 ? ~std::uint64_t{0} : place_cap;
    MemoryRoom room(machine, workload, placement, place_cap);
    EXPECT_TRUE(room.is_limited());
    Random random(seed);
    const auto is_over = [&](const Placement& at, PlaceId p) {
      const DomainId domain = machine.domain_of(p);
      return bytes_at(workload, at, p) > cap ||
             domain_bytes(machine, workload, at, domain) > caps[domain];
    };
    for (int i = 0; i < 150; ++i) {
      const auto t = static_cast<TaskId>(random.below(30)),
                 u = static_cast<TaskId>(random.below(30));
      const auto to = static_cast<PlaceId>(random.below(6));
      const PlaceId from = placement.of(t);
      const DomainId domain = machine.domain_of(to);
      Placement moved = placement;
      moved.move(t, to);
      const std::uint64_t after = bytes_at(workload, moved, to);
      // If t moves inside its domain, only its footprint is certain to become free.
      const std::uint64_t freed =
          machine.domain_of(from) == domain ? workload.memory[t].footprint_bytes : 0;
      const std::uint64_t others = domain_bytes(machine, workload, placement, domain) -
                                   bytes_at(workload, placement, to) - freed;
      const bool fits = from == to || (after <= cap && others + after <= caps[domain]);
      ASSERT_EQ(room.fits(t, to), fits);
      for (DomainId d = 0; d < 3; ++d)
        for (const std::uint64_t bytes : {0u, 100u, 200u, 300u}) {
          const std::uint64_t footprint = workload.memory[t].footprint_bytes;
          const bool may_fit =
              bytes + footprint <= cap &&
              (machine.domain_of(from) == d ||
               domain_bytes(machine, workload, placement, d) + footprint <= caps[d]);
          ASSERT_EQ(room.may_fit(t, d, bytes), may_fit);
          if (may_fit) continue;
          for (PlaceId p = 0; p < 6; ++p) {
            const bool is_affected =
                machine.domain_of(p) == d && p != from && bytes_at(workload, placement, p) >= bytes;
            ASSERT_FALSE(is_affected && room.fits(t, p));
          }
        }
      if (placement.of(u) != from && room.fits_exchange(t, u)) {
        Placement swapped = placement;
        swapped.move(t, placement.of(u));
        swapped.move(u, from);
        EXPECT_FALSE(is_over(swapped, from));
        EXPECT_FALSE(is_over(swapped, placement.of(u)));
      }
      if (i % 3 != 0 && !fits) continue;
      room.move(t, to);
      placement = moved;
      for (PlaceId p = 0; p < 6; ++p) {
        ASSERT_EQ(room.bytes_at(p), bytes_at(workload, placement, p));
        ASSERT_EQ(room.is_over(p), is_over(placement, p));
      }
    }
  }
}

TEST(MemoryRoom, tasks_of_different_domains_may_exchange_places_if_both_fit_afterwards) {
  const Machine machine = with_memory({100, 100, 1000});
  Workload workload;
  workload.tasks.assign(3, {.load_s = 1});
  workload.memory = {{.footprint_bytes = 90}, {.footprint_bytes = 95}, {.footprint_bytes = 300}};
  MemoryRoom room(machine, workload, Placement(std::vector<PlaceId>{0, 1, 3}), 0);
  EXPECT_TRUE(room.fits_exchange(0, 1));
  EXPECT_FALSE(room.fits_exchange(0, 2));
  EXPECT_FALSE(room.fits_exchange(2, 1));
  EXPECT_FALSE(room.fits(0, 1));
  EXPECT_TRUE(room.fits(1, 4)) << "the exchanges were only tried";
  EXPECT_EQ(room.bytes_at(0), 90u);
  EXPECT_EQ(room.bytes_at(1), 95u);
}

TEST(MemoryRoom, everything_fits_if_there_are_no_caps_or_if_sizes_of_tasks_are_unknown) {
  const Workload sized = drawn_workload(9, 6, 1);
  Workload unsized = sized;
  unsized.memory.clear();
  const Machine plain = machine_from_text("numa:2 core:3 factors:2,1");
  MachineParts parts = plain.parts();
  parts.facts.memory_bytes = {1};  // ignored, because the two domains need two values
  const Placement all(9, 0), wanted(9, 5);
  for (const auto& [machine, workload, cap] :
       {std::tuple(plain, sized, 0), {plain, unsized, 1}, {Machine(parts), sized, 0}}) {
    MemoryRoom room(machine, workload, all, static_cast<std::uint64_t>(cap));
    EXPECT_FALSE(room.is_limited());
    EXPECT_FALSE(room.is_over(0));
    EXPECT_TRUE(room.fits(0, 5));
    EXPECT_TRUE(room.fits_exchange(0, 1));
    EXPECT_EQ(within_memory(machine, workload, all, wanted, static_cast<std::uint64_t>(cap)),
              wanted);
  }
}

/// The procedure described at within_memory(). It examines all places for each task.
Placement naive_within_memory(const Machine& machine, const Workload& workload,
                              const Placement& current, const Placement& wanted,
                              std::uint64_t cap) {
  MemoryRoom room(machine, workload, current, cap);
  Placement placement = current;
  std::vector<TaskId> tasks;
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (workload.tasks[t].movable) tasks.push_back(t);
  std::stable_sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return workload.memory[a].footprint_bytes > workload.memory[b].footprint_bytes;
  });
  for (const TaskId t : tasks) {
    const PlaceId from = placement.of(t);
    if (!room.is_over(from)) continue;
    PlaceId best = from;
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      if (p != from && room.fits(t, p) && (best == from || room.bytes_at(p) < room.bytes_at(best)))
        best = p;
    room.move(t, best);
    placement.move(t, best);
  }
  for (int round = 0; round < 4; ++round)
    for (const TaskId t : tasks)
      if (room.fits(t, wanted.of(t))) {
        room.move(t, wanted.of(t));
        placement.move(t, wanted.of(t));
      }
  return placement;
}

TEST(MemoryRoom,
     full_places_first_give_away_large_tasks_and_then_tasks_move_to_their_wanted_places) {
  int num_different = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Machine machine = seed % 2 == 0 ? with_memory({250, 500, 700}) : with_memory({});
    Workload workload = drawn_workload(25, 6, seed);
    for (TaskId t = 0; t < 25; ++t) workload.tasks[t].movable = (t + seed) % 5 != 0;
    const std::uint64_t cap = seed % 4 == 0 ? 0 : 260;
    const Placement current =
        seed % 3 == 0 ? Placement(25, 3) : initial_placement("random", 25, 6, seed);
    const Placement wanted = initial_placement("random", 25, 6, seed + 1000);
    const Placement placed = within_memory(machine, workload, current, wanted, cap);
    EXPECT_EQ(placed, naive_within_memory(machine, workload, current, wanted, cap));
    num_different += placed != wanted;
    for (TaskId t = 0; t < 25; ++t)
      if (!workload.tasks[t].movable) {
        EXPECT_EQ(placed.of(t), current.of(t));
      }
  }
  EXPECT_GT(num_different, 100);
}

}  // namespace
}  // namespace poise
