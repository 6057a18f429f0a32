// SPDX-License-Identifier: BSD-3-Clause
// The number of seeds that a random test runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace poise {

/// Returns `usual`, or POISE_SEEDS from the environment if that is larger. `./dev test full` sets
/// it, so that rare cases that the usual seeds miss show up there.
inline std::uint64_t num_seeds(std::uint64_t usual) {
  const char* const wanted = std::getenv("POISE_SEEDS");
  return wanted == nullptr ? usual
                           : std::max<std::uint64_t>(usual, std::strtoull(wanted, nullptr, 10));
}

}  // namespace poise
