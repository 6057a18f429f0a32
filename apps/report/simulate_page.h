// The page of `poise simulate --html`.
#pragma once

#include <string>
#include <vector>

#include "apps/analysis/simulation.h"

namespace poise::apps {

/// `heading` says which trace and how many steps.
std::string simulate_page(const Simulation& simulation, const std::string& heading);

}  // namespace poise::apps
