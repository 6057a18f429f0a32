// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/initial.h"

#include <array>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/base/text.h"

namespace poise {

namespace {

Placement anywhere(TaskId num_tasks, std::uint32_t num_places, std::uint64_t seed) {
  Random random(seed);
  Placement placement(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t)
    placement.move(t, static_cast<PlaceId>(random.below(num_places)));
  return placement;
}

/// Place p gets a number of tasks proportional to 2 (P - p) - 1, where P is the number of places.
/// So the first p places together get p (2 P - p) / P^2 of all tasks.
Placement uneven(TaskId num_tasks, std::uint32_t num_places) {
  const double places = num_places;
  const auto end_of = [&](PlaceId p) {
    const double share = (p + 1) * (2 * places - (p + 1)) / (places * places);
    return static_cast<TaskId>(num_tasks * share + 0.5);
  };
  Placement placement(num_tasks, num_places - 1);
  TaskId t = 0;
  for (PlaceId p = 0; p < num_places; ++p)
    for (const TaskId end = end_of(p); t < end; ++t) placement.move(t, p);
  return placement;
}

constexpr std::array<std::string_view, 4> kNames{"blocked", "round_robin", "random", "uneven"};

}  // namespace

std::span<const std::string_view> initial_placements() { return kNames; }

Placement initial_placement(std::string_view name, TaskId num_tasks, std::uint32_t num_places,
                            std::uint64_t seed) {
  if (name == "blocked") return blocked(num_tasks, num_places);
  if (name == "round_robin") return round_robin(num_tasks, num_places);
  if (name == "random") return anywhere(num_tasks, num_places, seed);
  if (name == "uneven") return uneven(num_tasks, num_places);
  throw Error(unknown_name("placement", name, kNames));
}

}  // namespace poise
