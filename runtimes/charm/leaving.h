// Which objects leave a group of PEs that has too much load. Also read by charmc, so this is C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// The objects of PE 0, as rows, that go to PE 1, together of at most `load_s`. Where messages tell
/// objects apart, those go whose load costs the fewest messages between the two PEs, which is
/// counted anew after each; else the heaviest, so that few do. Never throws: rows that make no
/// sense let nothing leave. O(m + n log n), with n objects and m messages.
std::vector<std::uint32_t> leaving(const Statistics& statistics, double load_s) noexcept;

}  // namespace poise::charm
