// SPDX-License-Identifier: BSD-3-Clause
// Counts random points of the unit square by their distance from the origin. OpenMP threads
// synchronize only at the end of a phase, so the program is a benchmark of the thread balancer
// (`poise juggle`) with long phases.
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <omp.h>

#include "miniapps/arguments.h"

#include "poise/base/random.h"

namespace {

// The number of blocks is divisible by every number from 1 to 8, so that up to 8 threads get equal
// work. Results depend on the number of blocks but not on the number of threads.
constexpr int kBlocks = 840;
constexpr int kRings = 4;

using Counts = std::array<std::uint64_t, kRings>;

/// Draws the points of a block and counts those in each ring around the origin, in exact integers.
Counts count(std::uint64_t block, std::uint64_t num_points) {
  poise::Random random(block);
  Counts counts{};
  for (std::uint64_t i = 0; i < num_points; ++i) {
    const std::uint64_t x = random.below(1U << 30), y = random.below(1U << 30);
    const std::uint64_t ring = (x * x + y * y) >> 58;
    if (ring < kRings) ++counts[ring];
  }
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  poise::miniapps::Arguments arguments(
      "Counts random points with OpenMP threads that do not synchronize within a phase.", "ep");
  std::uint64_t points = 100'000'000, phases = 1;
  arguments.add("--points", points, "points per phase, over all threads", kBlocks, 1ULL << 50);
  arguments.add("--phases", phases, "number of phases", 1, 1000000);
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  const double start_s = omp_get_wtime();
  std::uint64_t rings[kRings] = {};
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
#pragma omp parallel for schedule(static) reduction(+ : rings[ : kRings])
    for (int block = 0; block < kBlocks; ++block) {
      const Counts counts = count(phase * kBlocks + block, points / kBlocks);
      for (int ring = 0; ring < kRings; ++ring) rings[ring] += counts[ring];
    }
  }
  fmt::print("{{\"elapsed_s\": {:.6f}, \"threads\": {}, \"rings\": [{}]}}\n",
             omp_get_wtime() - start_s, omp_get_max_threads(), fmt::join(rings, ", "));
}
