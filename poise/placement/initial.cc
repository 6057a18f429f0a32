// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/initial.h"

#include <array>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/base/text.h"

namespace poise {

namespace {

using Visit = std::function<void(TaskId, PlaceId)>;

/// Place p, counted from 0, gets a number of tasks proportional to 2 (P - p) - 1, where P is the
/// number of places. So the first q places together get the fraction q (2 P - q) / P^2 of all
/// tasks. For q = P, this fraction is 1.
void visit_uneven(TaskId num_tasks, std::uint32_t num_places, const Visit& visit) {
  const double places = num_places;
  const auto end_of = [&](PlaceId p) {
    const double share = (p + 1) * (2 * places - (p + 1)) / (places * places);
    return static_cast<TaskId>(num_tasks * share + 0.5);
  };
  TaskId t = 0;
  for (PlaceId p = 0; p < num_places; ++p)
    for (const TaskId end = end_of(p); t < end; ++t) visit(t, p);
}

constexpr std::array<std::string_view, 4> kNames{"blocked", "round_robin", "random", "uneven"};

}  // namespace

std::span<const std::string_view> initial_placements() { return kNames; }

void visit_initial_placement(std::string_view name, TaskId num_tasks, std::uint32_t num_places,
                             std::uint64_t seed, const Visit& visit) {
  Random random(seed);
  if (name == "blocked") {
    for (TaskId t = 0; t < num_tasks; ++t) visit(t, blocked_place(t, num_tasks, num_places));
  } else if (name == "round_robin") {
    for (TaskId t = 0; t < num_tasks; ++t) visit(t, t % num_places);
  } else if (name == "random") {
    for (TaskId t = 0; t < num_tasks; ++t) visit(t, random.below(num_places));
  } else if (name == "uneven") {
    visit_uneven(num_tasks, num_places, visit);
  } else {
    throw Error(unknown_name("placement", name, kNames));
  }
}

Placement initial_placement(std::string_view name, TaskId num_tasks, std::uint32_t num_places,
                            std::uint64_t seed) {
  Placement placement(num_tasks);
  visit_initial_placement(name, num_tasks, num_places, seed,
                          [&](TaskId t, PlaceId p) { placement.move(t, p); });
  return placement;
}

}  // namespace poise
