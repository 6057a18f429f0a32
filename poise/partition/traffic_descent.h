// A mapping improved: tasks move or change places with others while messages get cheaper.
#pragma once

#include <span>

#include "poise/partition/distances.h"
#include "poise/partition/partition.h"
#include "poise/placement/placement.h"
#include "poise/search/tuning.h"

namespace poise {

/// A graph of tasks whose mapping is to be improved.
struct TrafficDescent {
  const Distances& distances;
  std::span<const PlaceId> places;  // place i of a placement stands for places[i], which may be
                                    // the first of a group
  const graphs::Graph& graph;
  std::span<const double> caps;         // per place the weight that it may hold
  std::span<const graphs::Part> fixed;  // per vertex its place or kFree; empty: all are free
  unsigned climbs;                      // hill climbs at the end
  const Tuning& tuning = kTuning;
};

/// Lowers the sum over the graph's edges of affinity times the distance between their places.
/// Each vertex moves to the place where that gains most and the cap leaves room; where a vertex
/// would gain but finds no room, it changes places with one of those there. A few hill climbs
/// follow (climb.h). O((vertices + edges) log vertices), a few passes.
void descend_on_traffic(const TrafficDescent& descent, Placement& placement);

/// The same by way of smaller and smaller graphs whose vertices are what a place holds together, so
/// that whole clusters change places: a V-cycle (Walshaw, "Multilevel refinement for combinatorial
/// optimisation problems", 2004). Twice the time.
void cycle_on_traffic(const TrafficDescent& descent, Placement& placement);

/// That sum, each edge once.
double traffic(const Distances& distances, const graphs::Graph& graph, const Placement& placement);

}  // namespace poise
