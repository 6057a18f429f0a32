// SPDX-License-Identifier: BSD-3-Clause
// Tests that in Mode::hierarchical the memory and the traffic of a rank grow with its own objects,
// not with all objects.
#include <algorithm>
#include <gtest/gtest.h>

#include "runtimes/objects/collection.h"
#include "runtimes/objects/counting_testing.h"

namespace poise::objects {
namespace {

/// An object that sends to four other objects, whose ids are near its own.
struct Near {
  ObjectId id = 0, num_objects = 0;
  void step(const Inbox&, Outbox& outbox) {
    for (const ObjectId distance : {1u, 16u}) {
      outbox.send((id + distance) % num_objects, id);
      outbox.send((id + num_objects - distance) % num_objects, id);
    }
  }
};

/// The heap memory and the message traffic of a rank, in bytes, for creating the objects, a few
/// steps and one decision.
struct Needs {
  double heap_bytes = 0, traffic_bytes = 0;
};

Needs needs(MPI_Comm comm, ObjectId num_objects, Mode mode) {
  counting::restart();
  const std::size_t before = heap::bytes;
  Collection<Near> objects(comm, num_objects,
                           [=](ObjectId id) {
                             return Near{id, num_objects};
                           },
                           {.strategy = "keep", .mode = mode});
  objects.run(2);
  objects.balance();
  objects.step();
  return {static_cast<double>(heap::peak_bytes - before),
          static_cast<double>(counting::traffic_bytes)};
}

constexpr ObjectId kOwnObjects = 40'000;
constexpr int kHalf = 4;

/// Runs the test program on four ranks and then on eight, with the same number of objects per rank.
/// Returns how many more bytes rank 3 needs in the second run, divided by the number of objects
/// that were added. Rank 3 is measured because it never leads a group of ranks; a leader needs more
/// memory.
Needs growth(Mode mode) {
  MPI_Comm half = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < kHalf ? 0 : MPI_UNDEFINED, rank, &half);
  Needs small;
  if (half != MPI_COMM_NULL) {
    small = needs(half, kHalf * kOwnObjects, mode);
    MPI_Comm_free(&half);
  }
  const Needs large = needs(MPI_COMM_WORLD, 2 * kHalf * kOwnObjects, mode);
  constexpr double kMore = kHalf * kOwnObjects;
  double more[] = {(large.heap_bytes - small.heap_bytes) / kMore,
                   (large.traffic_bytes - small.traffic_bytes) / kMore};
  MPI_Bcast(more, 2, MPI_DOUBLE, kHalf - 1, MPI_COMM_WORLD);
  return {more[0], more[1]};
}

TEST(Growth,
     memory_and_traffic_of_a_rank_grow_only_with_its_own_objects_if_all_ranks_decide_together) {
  const Needs more = growth(Mode::hierarchical);
  EXPECT_LT(more.heap_bytes, 0.5);
  EXPECT_LT(more.traffic_bytes, 0.5);
}

TEST(Growth, memory_and_traffic_of_a_rank_grow_with_the_total_number_of_objects_if_rank_0_decides) {
  const Needs more = growth(Mode::root);
  // Every rank stores the place of every object: 4 bytes per object.
  EXPECT_GT(more.heap_bytes, 3.9);
  // Every rank receives the place of every object: 4 bytes per object.
  EXPECT_GT(more.traffic_bytes, 3.9);
}

TEST(Growth, memory_does_not_grow_from_decision_to_decision_unless_the_strategy_predicts_loads) {
  const auto make = [](ObjectId id) { return Near{id, kOwnObjects}; };
  Collection<Near> objects(MPI_COMM_WORLD, kOwnObjects, make,
                           {.strategy = "keep", .mode = Mode::root});
  const auto heap_bytes_after = [&](int num_decisions) {
    for (int i = 0; i < num_decisions; ++i) {
      objects.step();
      objects.balance();
    }
    return static_cast<double>(heap::bytes);
  };
  const double before = heap_bytes_after(2);
  // Storing the loads of a single decision would take 8 bytes per object.
  EXPECT_LT(heap_bytes_after(8) - before, 8.0 * kOwnObjects);
}

}  // namespace
}  // namespace poise::objects
