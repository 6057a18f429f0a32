// SPDX-License-Identifier: BSD-3-Clause
// Work stealing as programs usually have it, in virtual time: the peer of lending in scale_bench.
#pragma once

#include <cstdint>

#include "poise/simulate/lending_simulation.h"

namespace poise::bench {

enum class Victims : std::uint8_t {
  random,        // every other rank is equally probable
  hierarchical,  // half of the requests go to ranks of the thief's node, the others to any rank
};

/// An idle rank sends one request at a time to a random victim, which gives half of its queued
/// tasks or declines. After a declined request the thief pauses, twice as long as before. When a
/// rank has no task left, it sends the results to the owners. Latencies, network cards, overheads
/// and progress threads are those of the scenario, as are work, ranks and slowness; its other
/// fields are ignored. The pauses are those of Poise. Ranks learn at once, and without messages,
/// that all tasks are done; this favours stealing.
LendingOutcome simulate_stealing(const LendingScenario& scenario, Victims victims);

}  // namespace poise::bench
