// SPDX-License-Identifier: BSD-3-Clause
// Measures the cost of a machine of 32,768 places: the time to parse its text, and its memory.
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <new>

#include "poise/machine/text.h"

namespace {

std::atomic<std::size_t> bytes_held{0};

}  // namespace

// Not inlined: otherwise the compiler warns that memory from malloc() is released by delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  bytes_held.fetch_add(malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  bytes_held.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace poise {
namespace {

void build(benchmark::State& state, const char* text) {
  std::size_t held = 0, places = 0;
  for (auto _ : state) {
    const std::size_t before = bytes_held;
    const auto machine = std::make_unique<Machine>(machine_from_text(text));
    held = bytes_held - before;
    places = machine->num_places();
  }
  state.counters["places"] = places;
  state.counters["held_bytes"] = held;
}

/// Measures a query for the cost of a message between two random places.
void ask(benchmark::State& state, const char* text) {
  const Machine machine = machine_from_text(text);
  PlaceId from = 1, to = 2;
  double sum = 0;
  for (auto _ : state) {
    from = (from * 1664525u + 1013904223u) % machine.num_places();
    to = (to * 22695477u + 1u) % machine.num_places();
    sum += machine.message_factor(from, to);
  }
  benchmark::DoNotOptimize(sum);
}

constexpr const char* kTree = "rack:32 node:32 package:2 numa:2 l3:2 core:4";
constexpr const char* kTorus = "torus:16x16x16 numa:2 core:4";
constexpr const char* kDragonfly = "dragonfly:32x32 node:2 numa:2 core:8";

BENCHMARK_CAPTURE(build, tree, kTree)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, torus, kTorus)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, dragonfly, kDragonfly)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ask, tree, kTree);
BENCHMARK_CAPTURE(ask, torus, kTorus);
BENCHMARK_CAPTURE(ask, dragonfly, kDragonfly);

}  // namespace
}  // namespace poise

BENCHMARK_MAIN();
