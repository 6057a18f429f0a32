// SPDX-License-Identifier: BSD-3-Clause
// Sorts integer keys by counting. OpenMP threads synchronize between counting the keys and moving
// them. The program is a benchmark of the thread balancer (`poise juggle`): its phases take
// milliseconds, and memory bandwidth limits their speed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <omp.h>
#include <utility>
#include <vector>

#include "miniapps/arguments.h"

#include "poise/base/random.h"

namespace {

using Keys = std::vector<std::uint32_t>;

constexpr std::uint32_t kDigits = 2048;  // number of possible values of a digit
constexpr int kDigitBits = 11, kRounds = 3;
// The keys are sorted in blocks, which 2, 3, 4, 6, 8, 12, 16 or 24 threads can divide equally among
// themselves. The result does not depend on the number of threads.
constexpr std::size_t kBlocks = 48;

std::size_t first_of(std::size_t block, std::size_t num_keys) { return block * num_keys / kBlocks; }

std::uint32_t digit(std::uint32_t key, int round) {
  return (key >> (kDigitBits * round)) & (kDigits - 1);
}

/// Replaces the counts of keys by positions. counts[block * kDigits + d] was the number of keys of
/// this block with digit d; it becomes the position to which the first of these keys moves.
void add_up(std::vector<std::uint32_t>& counts) {
  std::uint32_t sum = 0;
  for (std::uint32_t d = 0; d < kDigits; ++d)
    for (std::size_t block = 0; block < kBlocks; ++block)
      sum += std::exchange(counts[block * kDigits + d], sum);
}

/// Sorts the keys by one digit after another, beginning with the lowest (radix sort).
void sort(Keys& keys, Keys& sorted, std::vector<std::uint32_t>& counts) {
  const std::int64_t blocks = kBlocks;
  for (int round = 0; round < kRounds; ++round) {
    std::fill(counts.begin(), counts.end(), 0);
#pragma omp parallel for schedule(static)
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::size_t block = b;
      std::uint32_t* const own = &counts[block * kDigits];
      for (std::size_t i = first_of(block, keys.size()); i < first_of(block + 1, keys.size()); ++i)
        ++own[digit(keys[i], round)];
    }
    add_up(counts);
#pragma omp parallel for schedule(static)
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::size_t block = b;
      std::uint32_t* const own = &counts[block * kDigits];
      for (std::size_t i = first_of(block, keys.size()); i < first_of(block + 1, keys.size()); ++i)
        sorted[own[digit(keys[i], round)]++] = keys[i];
    }
    keys.swap(sorted);
  }
}

/// Replaces every sorted key by its successor in a linear congruential generator.
void scramble(Keys& keys) {
  const std::int64_t count = keys.size();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t& key = keys[i];
    key = key * 1664525U + 1013904223U;
  }
}

}  // namespace

int main(int argc, char** argv) {
  poise::miniapps::Arguments arguments(
      "Sorts integers by counting, with OpenMP threads that synchronize seven times per step.",
      "is");
  std::uint32_t num_keys = 8'000'000;
  int steps = 10;
  arguments.add("--keys", num_keys, "number of keys", kBlocks, 1U << 30);
  arguments.add("--steps", steps, "how often new keys are sorted", 1, 1000000);
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  Keys keys(num_keys), sorted(num_keys);
  std::vector<std::uint32_t> counts(kBlocks * kDigits);
  poise::Random random(1);
  for (std::uint32_t& key : keys) key = random.below(1ULL << 32);
  const double start_s = omp_get_wtime();
  for (int step = 0; step < steps; ++step) {
    scramble(keys);
    sort(keys, sorted, counts);
  }
  const double elapsed_s = omp_get_wtime() - start_s;
  if (!std::is_sorted(keys.begin(), keys.end())) return 1;
  fmt::print("{{\"elapsed_s\": {:.6f}, \"threads\": {}, \"middle\": {}}}\n", elapsed_s,
             omp_get_max_threads(), keys[keys.size() / 2]);
}
