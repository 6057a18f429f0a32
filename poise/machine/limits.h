// SPDX-License-Identifier: BSD-3-Clause
// Limits on the size of a machine.
#pragma once

#include <cstdint>

namespace poise {

/// Maximum number of places, more than any machine has; a description with more is an error.
inline constexpr std::uint32_t kMaxPlaces = 1u << 26;
/// Maximum number of domains: each has a factor to each.
inline constexpr std::uint32_t kMaxDomainsOfNode = 2048;

}  // namespace poise
