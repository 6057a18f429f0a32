// SPDX-License-Identifier: BSD-3-Clause
// Kinds of simulated steps in which ranks lend tasks, drawn at random.
#pragma once

#include <cstdint>

#include "poise/simulate/lending_simulation.h"

namespace poise::bench {

struct ScenarioKind {
  const char* name;
  LendingScenario (*make)(std::uint64_t seed);
};

extern const ScenarioKind kScenarioKinds[9];

}  // namespace poise::bench
