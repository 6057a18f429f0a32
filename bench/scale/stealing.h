// SPDX-License-Identifier: BSD-3-Clause
// Simulates ordinary work stealing in virtual time; scale_bench compares lending with it.
#pragma once

#include <cstdint>

#include "poise/simulate/lending_simulation.h"

namespace poise::bench {

enum class Victims : std::uint8_t {
  random,        // every other rank is equally probable
  hierarchical,  // half of the requests go to ranks of the thief's node, the others to any rank
};

/// An idle rank sends one request at a time to a random victim, which gives half of its queued
/// tasks or declines. After a declined request the thief pauses; consecutive declined requests
/// double the pause. When a rank has no task left, it sends the results to the owners. `scenario`
/// gives the ranks, their work and slowness, latencies, network cards, overheads and progress
/// threads; its other fields are ignored. The pauses are those of Poise. Ranks learn immediately,
/// and without messages, that all tasks are done; this favours stealing.
LendingOutcome simulate_stealing(const LendingScenario& scenario, Victims victims);

}  // namespace poise::bench
