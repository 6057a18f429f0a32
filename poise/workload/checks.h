// SPDX-License-Identifier: BSD-3-Clause
// The parts of check(Workload). Messages take most of the memory, so some callers check messages
// only once, when they store them.
#pragma once

#include <cstdint>
#include <span>

#include "poise/workload/workload.h"

namespace poise {

void check_messages(const Workload& workload);
void check_all_but_messages(const Workload& workload, std::uint32_t num_places);

/// Returns the sum of `total` and the numbers. Throws Error if the result exceeds the limit of
/// check(). `what` names what the numbers count, for example "bytes of messages".
std::uint64_t checked_sum(std::uint64_t total, std::span<const std::uint64_t> numbers,
                          const char* what);

}  // namespace poise
