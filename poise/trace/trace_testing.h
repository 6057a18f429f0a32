// SPDX-License-Identifier: BSD-3-Clause
// Example traces for the tests of the trace formats, and a comparison of two traces field by field.
#pragma once

#include <gtest/gtest.h>

#include "poise/base/random.h"
#include "poise/trace/trace.h"

namespace poise {

inline void expect_same(const Workload& a, const Workload& b) {
  ASSERT_EQ(a.tasks.size(), b.tasks.size());
  for (std::size_t t = 0; t < a.tasks.size(); ++t) {
    EXPECT_EQ(a.tasks[t].load_s, b.tasks[t].load_s) << "task " << t;
    EXPECT_EQ(a.tasks[t].bytes, b.tasks[t].bytes) << "task " << t;
    EXPECT_EQ(a.tasks[t].movable, b.tasks[t].movable) << "task " << t;
  }
  ASSERT_EQ(a.messages.size(), b.messages.size());
  for (std::size_t m = 0; m < a.messages.size(); ++m) {
    EXPECT_EQ(a.messages[m].from, b.messages[m].from) << "message " << m;
    EXPECT_EQ(a.messages[m].to, b.messages[m].to) << "message " << m;
    EXPECT_EQ(a.messages[m].count, b.messages[m].count) << "message " << m;
    EXPECT_EQ(a.messages[m].bytes, b.messages[m].bytes) << "message " << m;
  }
  EXPECT_EQ(a.background_s, b.background_s);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.homes, b.homes);
  ASSERT_EQ(a.memory.size(), b.memory.size());
  for (std::size_t t = 0; t < a.memory.size(); ++t) {
    EXPECT_EQ(a.memory[t].footprint_bytes, b.memory[t].footprint_bytes) << "task " << t;
    EXPECT_EQ(a.memory[t].working_bytes, b.memory[t].working_bytes) << "task " << t;
    EXPECT_EQ(a.memory[t].shared_block, b.memory[t].shared_block) << "task " << t;
  }
  EXPECT_EQ(a.shared_block_bytes, b.shared_block_bytes);
  EXPECT_EQ(a.place_bytes, b.place_bytes);
  EXPECT_EQ(a.subphase_load_s, b.subphase_load_s);
  EXPECT_EQ(a.loads_include, b.loads_include);
  EXPECT_EQ(a.overlap, b.overlap);
}

inline void expect_same(const Phase& a, const Phase& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.wall_s, b.wall_s);
  expect_same(a.workload, b.workload);
  EXPECT_EQ(a.placement, b.placement);
  EXPECT_TRUE(a.names == b.names);
}

inline void expect_same(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.num_places, b.num_places);
  ASSERT_EQ(a.phases.size(), b.phases.size());
  for (std::size_t i = 0; i < a.phases.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same(a.phases[i], b.phases[i]);
  }
}

/// A trace of two phases on three places with every column filled. Messages are sorted by sender
/// and receiver, and tasks by name, because formats with one file per place are read back in this
/// order.
inline Trace full_trace() {
  Trace trace;
  trace.num_places = 3;
  for (const std::uint64_t id : {4, 6}) {
    Phase& phase = trace.phases.emplace_back();
    phase.id = id;
    phase.wall_s = 1.5 * id;
    Workload& workload = phase.workload;
    workload.tasks = {{0.1, 1000, true}, {3, 0, true}, {1e-9, 0x123456789ab, false}, {0, 7, true}};
    workload.messages = {{0, 3, 2, 5'000'000'000}, {1, 0, 1, 0}, {2, 2, 1, 1}, {3, 0, 9, 8}};
    workload.background_s = {0, 0.25, 1};
    workload.positions = {{0, 0, 0}, {1, 2.5, -3}, {1e30, 1e-30, 7}, {-0.5, 0, 0}};
    workload.homes = {1, 0, 2, 2};
    workload.memory = {{10, 20, -1}, {30, 0, 1}, {0, 0, 0}, {1, 1, 1}};
    workload.shared_block_bytes = {100, 200};
    workload.place_bytes = {7, 0, 1'000'000'007};
    phase.placement = Placement(std::vector<PlaceId>{1, 0, 1, 2});
    phase.names = {{5, -1, {}, 77, TaskName::Kind::id},
                   {9, 7, {1, 2, -3}, -1, TaskName::Kind::id},
                   {1ull << 60, 7, {0}, -1, TaskName::Kind::id},
                   {0, 2, {}, -1, TaskName::Kind::sequence}};
    workload.subphase_load_s = {{0.05, 0.05}, {}, {1e-9}, {}};
    workload.loads_include = LoadsInclude::send;
    workload.overlap = 0.25;
  }
  return trace;
}

/// A random trace with up to 40 tasks, without names.
inline Trace random_trace(std::uint64_t seed) {
  Random random(seed);
  Trace trace;
  trace.num_places = 1 + random.below(5);
  Phase& phase = trace.phases.emplace_back();
  const TaskId num_tasks = 1 + random.below(40);
  std::vector<PlaceId> places;
  for (TaskId t = 0; t < num_tasks; ++t) {
    phase.workload.tasks.push_back(
        {random.uniform(), random.bits() >> (18 + random.below(46)), random.below(4) != 0});
    places.push_back(random.below(trace.num_places));
  }
  for (std::uint64_t m = random.below(100); m > 0; --m)
    phase.workload.messages.push_back(
        {static_cast<TaskId>(random.below(num_tasks)), static_cast<TaskId>(random.below(num_tasks)),
         random.bits() >> (18 + random.below(46)), random.bits() >> (18 + random.below(46))});
  phase.placement = Placement(std::move(places));
  return trace;
}

}  // namespace poise
