// SPDX-License-Identifier: BSD-3-Clause
// Implements poise_map(), which maps ranks to places.
#include <algorithm>

#include "faces/library/arrays.h"
#include "faces/library/problem.h"

#include "poise/partition/rank_map.h"

using poise::fail;
using poise::library::guarded;
using poise::library::required;

int poise_map(const poise_machine* machine, const poise_workload* workload, const uint32_t* current,
              const char* distance, uint32_t ranks_per_place, uint32_t cores_per_rank,
              uint64_t seed, uint32_t* place_of_rank) {
  return guarded(__func__, [&] {
    std::uint32_t* const result = &required(place_of_rank, "place_of_rank");
    poise::RankMapOptions options{.distance =
                                      poise::distance_named(&required(distance, "distance"))};
    if (ranks_per_place == 0 || cores_per_rank == 0 || (ranks_per_place > 1 && cores_per_rank > 1))
      fail(
          "ranks_per_place is {} and cores_per_rank is {}; one of them must be 1, and the other "
          "must be at least 1",
          ranks_per_place, cores_per_rank);
    options.shape = {.cores_per_rank = cores_per_rank, .ranks_per_place = ranks_per_place};
    options.effort.seed = seed;
    const poise::library::CheckedProblem problem(machine, workload, current, seed);
    const poise::Problem view = problem.view();
    const poise::Placement map = poise::map_ranks(
        view.machine, view.workload, current == nullptr ? nullptr : &view.current, options);
    std::copy(map.places().begin(), map.places().end(), result);
  });
}
