// SPDX-License-Identifier: BSD-3-Clause
// The results of `poise simulate` as text.
#pragma once

#include <string>

#include "apps/analysis/simulation.h"

namespace poise::apps {

/// Describes a simulated run in a few words: its steps, decisions, loads and engine.
std::string plan_text(const ReplayPlan& plan);

/// Returns a description of the simulated run, a table with a row per strategy, and the name of the
/// best strategy.
std::string text_of(const Simulation& simulation);

}  // namespace poise::apps
