// The pictures of a report: pure functions from data to SVG. Axes start at 0 and have units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/comparison.h"
#include "apps/traffic.h"

#include "poise/placement/metrics.h"

namespace poise::apps {

/// Busy time per place as bars of work and communication, up to `top_s`, with the lower bound as a
/// line. More than 200 places become 200 bars or fewer: the mean of each run of places, and a tick
/// at its busiest.
std::string load_picture(const Machine& machine, const PlaceTimes& times, double bound_s,
                         double top_s, std::string_view label);

/// A square per pair of groups, darker where more is sent; `largest` is the darkest of the scale,
/// which goes with the square root. Traffic inside a group, between its places, is the diagonal.
std::string traffic_picture(const Traffic& traffic, double largest, std::string_view label);

/// The levels as nested boxes; of many equal boxes only the first ones are drawn, and their number
/// is told.
std::string machine_picture(const Machine& machine);

/// The iteration of every strategy as a bar, the lower bound as a line.
std::string ranking_picture(const Comparison& comparison);

/// The busiest place, for axes shared by several pictures.
double busiest_s(const PlaceTimes& times);

}  // namespace poise::apps
