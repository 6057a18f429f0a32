// SPDX-License-Identifier: BSD-3-Clause
// Draws the pictures of a report: each function turns data into SVG. Axes start at 0 and show
// units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/comparison.h"
#include "apps/analysis/traffic.h"

#include "poise/placement/metrics.h"

namespace poise::apps {

/// Draws the busy time of each place as a bar of work and communication, with the lower bound as a
/// line. The axis ends 5 % above `top_s` seconds. If there are more than 200 places, each bar shows
/// the mean of consecutive places, with a tick at the busiest of them.
std::string load_picture(const Machine& machine, const PlaceTimes& times, double bound_s,
                         double top_s, std::string_view label);

/// Draws the number of messages that each place receives as a bar. The axis ends 5 % above
/// `most` messages. If there are more than 200 places, each bar shows the mean of consecutive
/// places, with a tick at the largest number among them.
std::string received_picture(const std::vector<std::uint64_t>& received, std::uint64_t most,
                             std::string_view label);

/// Draws a matrix with one square per pair of groups of places. The shade of a square is
/// proportional to the square root of the traffic; `largest` is the traffic of the darkest shade. A
/// square on the diagonal shows the traffic between different places of one group.
std::string traffic_picture(const Traffic& traffic, double largest, std::string_view label);

/// Draws the levels of a machine as nested boxes. If there are many equal boxes, it draws the first
/// ones and notes the number of the others.
std::string machine_picture(const Machine& machine);

/// Draws the iteration time of every strategy as a bar, and the lower bound as a line.
std::string ranking_picture(const Comparison& comparison);

/// Draws every strategy as a point: the bytes that it moves (or the tasks, if sizes are unknown) on
/// the x axis, and its iteration time on the y axis. Two lines show the lower bounds of these
/// values. The area of a point grows with the time of the decision. Pareto-optimal strategies are
/// labelled with their name.
std::string trade_off_picture(const Comparison& comparison);

/// Returns the time of the busiest place, for axes that several pictures share.
double busiest_s(const PlaceTimes& times);

}  // namespace poise::apps
