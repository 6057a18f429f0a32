// SPDX-License-Identifier: BSD-3-Clause
// The hash function of the profile. It gives the same numbers on all ranks and platforms.
#pragma once

#include <cstdint>

namespace poise::profile {

/// The finaliser of splitmix64: each bit of the result depends on all bits of the key.
inline std::uint64_t mixed(std::uint64_t key) {
  key += 0x9e3779b97f4a7c15u;
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
  key = (key ^ key >> 27) * 0x94d049bb133111ebu;
  return key ^ key >> 31;
}

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return mixed(mixed(a) ^ b); }

}  // namespace poise::profile
