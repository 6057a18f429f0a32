// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/vacating.h"

#include <algorithm>
#include <utility>

#include "poise/base/error.h"

namespace poise::charm {

namespace {

constexpr double kLowestSpeed = 1e-9;  // the lowest speed that a place of a machine may have

}  // namespace

Machine slowed(const Machine& machine, const Unavailable& unavailable) {
  if (std::count(unavailable.begin(), unavailable.end(), 0) == 0)
    fail("all PEs are marked unavailable; at least one must be available");
  MachineParts parts = machine.parts();
  for (PlaceId p = 0; p < parts.places.size(); ++p)
    if (unavailable[p]) parts.places[p].speed = kLowestSpeed;
  return Machine(std::move(parts));
}

void drop_fixed_loads(OwnArrays& arrays) {
  arrays.background_s = 0;
  for (std::size_t task = 0; task < arrays.ids.size(); ++task)
    if (arrays.pinned[task]) arrays.load_s[task] = 0;
}

void avoid(const Unavailable& unavailable, const OwnArrays& arrays, std::uint32_t own,
           std::vector<std::uint32_t>& rank_of_task) {
  std::vector<std::uint32_t> available;
  for (std::uint32_t rank = 0; rank < unavailable.size(); ++rank)
    if (!unavailable[rank]) available.push_back(rank);
  for (std::size_t task = 0; task < rank_of_task.size(); ++task) {
    if (arrays.pinned[task] || !unavailable[rank_of_task[task]]) continue;
    rank_of_task[task] = unavailable[own] ? available[task % available.size()] : own;
  }
}

}  // namespace poise::charm
