// SPDX-License-Identifier: BSD-3-Clause
// Pictures of a diagnosis, by pure functions from data to SVG. Axes start at 0 and have units.
#pragma once

#include <string>

#include "poise/diagnosis/diagnose.h"

namespace poise::apps {

/// A bar per rank of useful time, waiting and transfer, summed over phases. With more than 200
/// ranks each bar is the mean of consecutive ones.
std::string rank_times_picture(const MeasuredRun& run);

/// A square per pair of ranks: how long the rank of the row waited for that of the column. With
/// more than 64 ranks consecutive ones share a row. The darkest is the longest; shades follow the
/// square root.
std::string waiting_picture(const MeasuredRun& run);

/// Efficiencies along the time of the run, as lines with a step per phase; with more than 200
/// phases, per several.
std::string efficiency_picture(const MeasuredRun& run);

/// A bar for the seconds that each advice saves, with the range of what is not known.
std::string advice_picture(const Diagnosis& diagnosis);

}  // namespace poise::apps
