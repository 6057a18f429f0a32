// Random points in the unit square, counted by their distance: threads that never meet but at the
// end of a phase. The thread balancer's benchmark with long phases, on OpenMP.
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <omp.h>

#include "miniapps/arguments.h"

#include "poise/base/random.h"

namespace {

constexpr int kBlocks = 840;  // the same share for 1 to 8 threads; counts do not depend on them
constexpr int kRings = 4;

using Counts = std::array<std::uint64_t, kRings>;

/// How many of a block's points lie in each ring of the quarter circle, by exact arithmetic.
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
      "Random points counted by OpenMP threads that never meet within a phase.", "ep");
  std::uint64_t points = 100'000'000, phases = 1;
  arguments.add("--points", points, "of a phase, over all threads", kBlocks, 1ULL << 50);
  arguments.add("--phases", phases, "how many", 1, 1000000);
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
