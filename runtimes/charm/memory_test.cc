// SPDX-License-Identifier: BSD-3-Clause
// Counts every allocation of this program to check how much memory a decision takes.
#include <gtest/gtest.h>

#include "runtimes/charm/balancer.h"
#include "tests/support/heap.h"

namespace poise::charm {
namespace {

constexpr std::size_t kPes = 64;
// Object i sends to the objects i + d and i - d for each of these distances d.
constexpr std::uint64_t kDistances[] = {1, 200};
constexpr std::uint64_t kMessagesPerObject = 2 * std::size(kDistances);

/// Statistics of a 2-D torus whose objects and messages are computed when read, never stored. A
/// quarter of the PEs have three times the load of the others, so that strategies move many
/// objects.
Statistics listed(std::uint64_t objects, std::uint32_t bytes) {
  Statistics statistics;
  statistics.pes.resize(kPes);
  statistics.more_objects = {objects, [objects](std::size_t i) {
                               ObjectRow row;
                               row.name = {i, 7};
                               row.wall_s = (4 * i < objects ? 3e-3 : 1e-3) *
                                            static_cast<double>(1 + i * i % 7);
                               row.pe = i * kPes / objects;
                               return row;
                             }};
  statistics.more_messages = {kMessagesPerObject * objects,
                              [objects, bytes](const MessageVisitor& visit) {
                                for (std::uint64_t i = 0; i < objects; ++i)
                                  for (const std::uint64_t d : kDistances)
                                    for (const std::uint64_t to : {i + d, i + objects - d})
                                      visit({{i, 7}, {to % objects, 7}, -1, 0, 0, 1, bytes}, {});
                              }};
  return statistics;
}

/// Returns the peak memory of a balancer's decisions, in bytes per object.
double bytes_of(const std::string& strategy, std::size_t decisions = 3,
                std::uint64_t objects = 40'000, std::uint32_t bytes_of_message = 1000) {
  const Statistics statistics = listed(objects, bytes_of_message);
  const std::size_t before = heap::bytes;
  heap::peak_bytes = before;
  Balancer balancer(0, strategy);
  for (std::size_t i = 0; i < decisions; ++i)
    EXPECT_EQ(balancer.decide(statistics).warning, "") << strategy;
  return 1.0 * (heap::peak_bytes - before) / objects;
}

constexpr double kFixed = 25;  // bytes per object; 1 MB with 40,000 objects
constexpr double kBytesOfPoise = kFixed + 130 + 54 * kMessagesPerObject;
// Memory for partitioning a small graph, in bytes per object. The graph takes 16 bytes per object
// and 8 per message; its parts and coarse graphs take as much again. The strategy also has its own
// copy of the messages (its arcs). It frees this copy while it partitions a large graph, but not
// while it partitions a small one.
constexpr double kBytesOfSmallPartition = 2 * (16 + 8 * kMessagesPerObject);

TEST(Memory, the_memory_of_a_decision_is_at_most_a_fixed_number_of_bytes_per_object_and_message) {
  EXPECT_LT(bytes_of("greedy_refine"), kFixed + 100);
  EXPECT_LT(bytes_of("nuco"), kFixed + 120 + 32 * kMessagesPerObject);
  EXPECT_LT(bytes_of("poise"), kBytesOfPoise + kBytesOfSmallPartition);
  EXPECT_GT(bytes_of("nuco"), 24 * kMessagesPerObject) << "the allocations are not counted";
}

TEST(Memory, a_decision_that_partitions_the_graph_of_all_objects_takes_little_memory) {
  constexpr std::uint64_t kManyObjects = 250'000;      // a large graph: its arcs are freed
  constexpr std::uint32_t kHeavyMessage = 10'000'000;  // bytes
  EXPECT_LT(bytes_of("poise", 1, kManyObjects, kHeavyMessage), kBytesOfPoise);
}

}  // namespace
}  // namespace poise::charm
