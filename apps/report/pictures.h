// The pictures of a report: pure functions from data to SVG. Axes start at 0 and have units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/comparison.h"
#include "apps/analysis/traffic.h"

#include "poise/placement/metrics.h"

namespace poise::apps {

/// Busy time per place as bars of work and communication, up to `top_s`, with the lower bound as a
/// line. More than 200 places share at most 200 bars: each shows the mean of consecutive places and
/// a tick at the busiest of them.
std::string load_picture(const Machine& machine, const PlaceTimes& times, double bound_s,
                         double top_s, std::string_view label);

/// A square per pair of groups; its shade is proportional to the square root of what is sent, and
/// `largest` is the darkest. The diagonal is traffic between different places of one group.
std::string traffic_picture(const Traffic& traffic, double largest, std::string_view label);

/// The levels as nested boxes; of many equal boxes the first are drawn, with a note of how many
/// more there are.
std::string machine_picture(const Machine& machine);

/// The iteration of every strategy as a bar, the lower bound as a line.
std::string ranking_picture(const Comparison& comparison);

/// The busiest place, for axes shared by several pictures.
double busiest_s(const PlaceTimes& times);

}  // namespace poise::apps
