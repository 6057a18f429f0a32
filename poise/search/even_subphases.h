// Evens out the subphases of a placement.
#pragma once

#include "poise/placement/placement.h"
#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

/// The placement, or one like it with a shorter iteration. Strategies balance what tasks cost in a
/// whole phase; where all places wait for each other in each of its subphases, the busiest place of
/// each counts (ChaNGa's MultistepLB has the same in mind). So tasks move between pairs of places,
/// or change places, while the busiest times of the subphases add up to less.
///
/// The sum bounds the makespan from above, so that stays near. A step must be worth what it adds to
/// messages; tasks that are not movable stay. The placement itself comes back where loads are not
/// known by subphase, where tasks tell their memory, and where there is little to gain.
/// O((tasks + places) * subphases).
Placement even_in_subphases(Placement placement, const Problem& problem,
                            const Tuning& tuning = kTuning);

}  // namespace poise
