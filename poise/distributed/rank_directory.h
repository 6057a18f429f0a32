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

/// Returns the rank whose part of the directory contains the task with this id.
std::uint32_t directory_of(std::uint64_t id, std::uint32_t num_ranks);

/// Collective. `own` lists the ids of this rank's tasks. Returns the rank of each task in `wanted`,
/// or kNoRank if no rank has it. Throws Error if two ranks have a task with the same id.
std::vector<std::uint32_t> ranks_of_tasks(Communicator& ranks, std::span<const std::uint64_t> own,
                                          const std::vector<std::uint64_t>& wanted);

}  // namespace poise
