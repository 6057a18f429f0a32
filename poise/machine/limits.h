// How large a machine may be.
#pragma once

#include <cstdint>

namespace poise {

/// Places of a machine, larger than any there is; a description that asks for more is a mistake.
inline constexpr std::uint32_t kMaxPlaces = 1u << 26;
/// Each has a factor to each.
inline constexpr std::uint32_t kMaxDomainsOfNode = 2048;

}  // namespace poise
