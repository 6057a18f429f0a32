// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranks of tasks in a directory, which is distributed over all ranks by hashes of the
// ids.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "poise/distributed/communicator.h"

namespace poise {

inline constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

/// Collective. `own` lists the ids of this rank's tasks. Returns the rank of each task in `wanted`,
/// or kNoRank if no rank has it. Throws Error if two ranks have a task with the same id.
std::vector<std::uint32_t> ranks_of_tasks(Communicator& ranks, std::span<const std::uint64_t> own,
                                          const std::vector<std::uint64_t>& wanted);

}  // namespace poise
