// How many seeds a random test runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace poise {

/// `usual`, or what the environment's POISE_SEEDS asks for if that is more. `./dev test full` sets
/// it: rare cases that the usual seeds miss show up there.
inline std::uint64_t num_seeds(std::uint64_t usual) {
  const char* const wanted = std::getenv("POISE_SEEDS");
  return wanted == nullptr ? usual
                           : std::max<std::uint64_t>(usual, std::strtoull(wanted, nullptr, 10));
}

}  // namespace poise
