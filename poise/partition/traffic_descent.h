// A mapping improved: tasks move or change places with others while messages get cheaper.
#pragma once

#include <span>

#include "poise/partition/distances.h"
#include "poise/partition/partition.h"
#include "poise/placement/placement.h"

namespace poise {

/// Lowers the sum over the graph's edges of affinity times the distance between their places. Place
/// i of the placement stands for places[i], maybe the first of a group. Nothing moves to a place
/// that would then hold more than its cap, in the graph's weights; where a task would gain but
/// finds no room, it changes places with one of those there. What is fixed stays (empty: nothing
/// is). A few climbs follow: steps by best gain, good or bad, each task once, and undone back to
/// the best state seen (Fiduccia and Mattheyses, for places at distances). O((vertices + edges) log
/// vertices), a few passes.
void descend_on_traffic(const Distances& distances, std::span<const PlaceId> places,
                        const graphs::Graph& graph, std::span<const double> caps,
                        std::span<const graphs::Part> fixed, unsigned climbs, Placement& placement);

/// The same by way of smaller and smaller graphs whose vertices are what a place holds together, so
/// that whole clusters change places: a V-cycle (Walshaw, 2004). Twice the time.
void cycle_on_traffic(const Distances& distances, std::span<const PlaceId> places,
                      const graphs::Graph& graph, std::span<const double> caps,
                      std::span<const graphs::Part> fixed, unsigned climbs, Placement& placement);

/// That sum, each edge once.
double traffic(const Distances& distances, const graphs::Graph& graph, const Placement& placement);

}  // namespace poise
