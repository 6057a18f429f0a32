// SPDX-License-Identifier: BSD-3-Clause
// Simulates ordinary work stealing in virtual time; scale_bench compares lending with it.
#pragma once

#include <cstdint>

#include "poise/simulate/lending_simulation.h"

namespace poise::bench {

enum class Victims : std::uint8_t {
  random,        // the victim is any rank but the thief, all with the same probability
  hierarchical,  // half of the requests go to ranks of the thief's node, half to any rank
};

/// An idle rank sends one request at a time to a random victim, which gives half of its queued
/// tasks or declines. After a declined request the thief pauses; consecutive declined requests
/// double the pause. When a rank has no task left, it sends the results to the owners. Of
/// `scenario`, only the ranks, their work and slowness, the latencies, network cards, overheads and
/// progress threads are used. Pauses are as long as in Poise. Ranks learn immediately, and without
/// messages, that all tasks are done, which favours stealing over lending.
LendingOutcome simulate_stealing(const LendingScenario& scenario, Victims victims);

}  // namespace poise::bench
