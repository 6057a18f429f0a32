// SPDX-License-Identifier: BSD-3-Clause
// Counts every allocation of this program to check how much memory a decision takes.
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <malloc.h>
#include <new>

#include "runtimes/charm/balancer.h"

namespace {

std::atomic<std::size_t> bytes_held{0}, most_bytes_held{0};

}  // namespace

// This function is not inlined; otherwise the compiler would warn that malloc and delete do not
// match.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = bytes_held += malloc_usable_size(memory);
  for (std::size_t most = most_bytes_held;
       most < now && !most_bytes_held.compare_exchange_weak(most, now);) {
  }
  return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  bytes_held -= malloc_usable_size(memory);
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace poise::charm {
namespace {

constexpr std::uint64_t kObjects = 40'000;
constexpr std::size_t kPes = 64, kDecisions = 3;
// Object i sends to the objects i + d and i - d for each of these distances d.
constexpr std::uint64_t kDistances[] = {1, 200};
constexpr std::uint64_t kMessages = kObjects * 2 * std::size(kDistances);

/// Statistics of a 2-D torus whose objects and messages are computed when read, never stored. A
/// quarter of the PEs have three times the load of the others, so that strategies move many
/// objects.
Statistics listed() {
  Statistics statistics;
  statistics.pes.resize(kPes);
  statistics.more_objects = {kObjects, [](std::size_t i) {
                               ObjectRow row;
                               row.name = {i, 7};
                               row.wall_s = (4 * i < kObjects ? 3e-3 : 1e-3) *
                                            static_cast<double>(1 + i * i % 7);
                               row.pe = i * kPes / kObjects;
                               return row;
                             }};
  statistics.more_messages = {kMessages, [](const MessageVisitor& visit) {
                                for (std::uint64_t i = 0; i < kObjects; ++i)
                                  for (const std::uint64_t d : kDistances)
                                    for (const std::uint64_t to : {i + d, i + kObjects - d})
                                      visit({{i, 7}, {to % kObjects, 7}, -1, 0, 0, 1, 1000}, {});
                              }};
  return statistics;
}

/// Returns the most bytes that a balancer's decisions held at once.
std::size_t bytes_of(const std::string& strategy) {
  const Statistics statistics = listed();
  const std::size_t before = bytes_held;
  most_bytes_held = before;
  Balancer balancer(0, strategy);
  for (std::size_t i = 0; i < kDecisions; ++i)
    EXPECT_EQ(balancer.decide(statistics).warning, "") << strategy;
  return most_bytes_held - before;
}

TEST(Memory, the_memory_of_a_decision_is_at_most_a_fixed_number_of_bytes_per_object_and_message) {
  constexpr std::size_t kFixed = 1'000'000;
  EXPECT_LT(bytes_of("greedy_refine"), kFixed + 100 * kObjects);
  EXPECT_LT(bytes_of("nuco"), kFixed + 120 * kObjects + 32 * kMessages);
  EXPECT_LT(bytes_of("poise"), kFixed + 130 * kObjects + 54 * kMessages);
  EXPECT_GT(bytes_of("nuco"), 24 * kMessages) << "the allocations are not counted";
}

}  // namespace
}  // namespace poise::charm
