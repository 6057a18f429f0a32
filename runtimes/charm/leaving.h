// SPDX-License-Identifier: BSD-3-Clause
// Chooses the objects that leave an overloaded group of PEs. charmc compiles this header as well,
// so it must be valid C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// Returns the rows of the objects that are to move from PE 0 to PE 1. Their total load is at most
/// `load_s`. The choice is greedy: the next object is always the one whose move adds the fewest
/// messages between the two PEs per second of load. If several objects are equally good, the
/// heaviest is chosen, so that few objects move. Never throws: invalid rows give an empty result.
/// O(m + n log n) for n objects and m messages.
std::vector<std::uint32_t> leaving(const Statistics& statistics, double load_s) noexcept;

}  // namespace poise::charm
