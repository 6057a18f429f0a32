// SPDX-License-Identifier: BSD-3-Clause
// Placements of tasks before the first balancing step.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "poise/placement/placement.h"

namespace poise {

/// The names of the initial placements: blocked, round_robin, random, uneven.
std::span<const std::string_view> initial_placements();

/// Returns the placement with this name. `random` draws a place for each task; the draws depend on
/// `seed`. `uneven` assigns blocks of consecutive tasks whose size decreases from twice the mean at
/// the first place to nearly none at the last. If there is no such placement, throws Error, whose
/// text lists all names.
Placement initial_placement(std::string_view name, TaskId num_tasks, std::uint32_t num_places,
                            std::uint64_t seed);

/// The place of a task if consecutive tasks form blocks of nearly equal size.
inline PlaceId blocked_place(TaskId task, TaskId num_tasks, std::uint32_t num_places) {
  return std::uint64_t{task} * num_places / num_tasks;
}

/// Calls visit(task, place) for each task of an initial placement, in order, without storing the
/// placement.
void visit_initial_placement(std::string_view name, TaskId num_tasks, std::uint32_t num_places,
                             std::uint64_t seed, const std::function<void(TaskId, PlaceId)>& visit);

}  // namespace poise
