// Where tasks lie before anything was balanced.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "poise/placement/placement.h"

namespace poise {

/// blocked, round_robin, random, uneven.
std::span<const std::string_view> initial_placements();

/// The placement of this name. random draws a place for each task from the seed; uneven gives
/// blocks of consecutive tasks that shrink from twice the mean at the first place to hardly any at
/// the last. Throws Error naming the valid ones.
Placement initial_placement(std::string_view name, TaskId num_tasks, std::uint32_t num_places,
                            std::uint64_t seed);

}  // namespace poise
