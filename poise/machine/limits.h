// SPDX-License-Identifier: BSD-3-Clause
// Limits on the size of a machine.
#pragma once

#include <cstdint>

namespace poise {

/// Maximum number of places, which is more than any machine has. A description with more is an
/// error.
inline constexpr std::uint32_t kMaxPlaces = 1u << 26;
/// Maximum number of domains of a node. The memory for the factors between them grows with the
/// square of their number.
inline constexpr std::uint32_t kMaxDomainsOfNode = 2048;

}  // namespace poise
