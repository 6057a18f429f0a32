// SPDX-License-Identifier: BSD-3-Clause
// Draws pictures of a diagnosis: each function turns data into SVG. Axes start at 0 and show units.
#pragma once

#include <string>

#include "poise/diagnosis/diagnose.h"

namespace poise::apps {

/// Draws a bar per rank with useful time, waiting and transfer, summed over the phases. With more
/// than 200 ranks, each bar is the mean of consecutive ranks.
std::string rank_times_picture(const MeasuredRun& run);

/// Draws a square per pair of ranks: how long the rank of the row waited for the rank of the
/// column. With more than 64 ranks, consecutive ranks share a row. The shade is proportional to the
/// square root of the time; the longest time has the darkest shade.
std::string waiting_picture(const MeasuredRun& run);

/// Draws the efficiencies over the time of the run. Each line is horizontal during a phase or, with
/// more than 200 phases, during several phases.
std::string efficiency_picture(const MeasuredRun& run);

/// Draws a bar per remedy: the seconds that the remedy saves, with the range of uncertainty.
std::string advice_picture(const Diagnosis& diagnosis);

}  // namespace poise::apps
