// SPDX-License-Identifier: BSD-3-Clause
// Runs the seeds of one fuzzer as an ordinary test: each unchanged, truncated, and with one bit
// flipped.
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

#include "tests/fuzz/target.h"

#include "poise/base/file.h"
#include "poise/base/random.h"

namespace poise {
namespace {

void try_input(const std::string& input) {
  EXPECT_EQ(
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()), 0);
}

TEST(Seeds, every_seed_file_of_the_fuzzers_is_read_or_refused_without_a_crash_even_if_damaged) {
  std::vector<std::filesystem::path> seeds;
  for (const auto& file : std::filesystem::directory_iterator(POISE_FUZZ_SEEDS))
    seeds.push_back(file.path());
  std::sort(seeds.begin(), seeds.end());
  ASSERT_FALSE(seeds.empty()) << POISE_FUZZ_SEEDS;
  for (const auto& seed : seeds) {
    SCOPED_TRACE(seed);
    const std::string whole = read_file(seed);
    try_input(whole);
    Random random(1);
    for (int i = 0; i < 30; ++i) {
      try_input(whole.substr(0, random.below(whole.size())));
      std::string damaged = whole;
      char& byte = damaged[random.below(whole.size())];
      byte = static_cast<char>(byte ^ (1 << random.below(8)));
      try_input(damaged);
    }
  }
}

}  // namespace
}  // namespace poise
