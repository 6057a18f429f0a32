// SPDX-License-Identifier: BSD-3-Clause
// Tests do less in some builds: random tests try fewer seeds, and slow tests are skipped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string_view>

#if defined(__SANITIZE_ADDRESS__)  // GCC
#define POISE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define POISE_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define POISE_ADDRESS_SANITIZER 0
#endif

namespace poise {

/// True in the build with the address sanitizer, whose tests take ten times as long.
inline constexpr bool kSanitized = POISE_ADDRESS_SANITIZER;

/// Returns a tenth of `usual` in the build with the address sanitizer: a few seeds are enough to
/// reach all code, and other builds run all seeds to find wrong results.
constexpr std::uint64_t fewer_if_sanitized(std::uint64_t usual) {
  return kSanitized ? (usual + 9) / 10 : usual;
}

/// True in the build with the address sanitizer, unless POISE_SLOW_TESTS is 1, as in
/// `./dev test full`.
inline bool skips_slow_tests() {
  const char* const wanted = std::getenv("POISE_SLOW_TESTS");
  return kSanitized && (wanted == nullptr || std::string_view(wanted) != "1");
}

/// Skips a test of speed or quality in builds that run no slow tests. Smaller tests reach the same
/// code.
#define POISE_SKIP_IF_SLOW() \
  if (skips_slow_tests()) GTEST_SKIP() << "slow in this build; POISE_SLOW_TESTS=1 runs it"

/// Returns the number of seeds that a random test runs: `usual` (fewer in the build with the
/// address sanitizer), or POISE_SEEDS from the environment if that is larger. `./dev test full`
/// sets POISE_SEEDS, so that it also finds rare cases that the usual seeds miss.
inline std::uint64_t num_seeds(std::uint64_t usual) {
  const char* const wanted = std::getenv("POISE_SEEDS");
  return std::max<std::uint64_t>(fewer_if_sanitized(usual),
                                 wanted == nullptr ? 0 : std::strtoull(wanted, nullptr, 10));
}

}  // namespace poise
