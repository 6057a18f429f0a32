// SPDX-License-Identifier: BSD-3-Clause
// Lowers the traffic of a placement of tasks by moving and exchanging tasks.
#pragma once

#include <span>

#include "poise/partition/distances.h"
#include "poise/partition/partition.h"
#include "poise/placement/placement.h"
#include "poise/search/tuning.h"

namespace poise {

/// A graph of tasks, and the limits that an improved placement must respect.
struct TrafficDescent {
  const Distances& distances;
  /// The places between which tasks move: number i in a Placement means places[i]. If tasks move
  /// between groups of places, places[i] is the first place of a group.
  std::span<const PlaceId> places;
  const graphs::Graph& graph;
  std::span<const double> caps;         // maximum weight of each place
  std::span<const graphs::Part> fixed;  // per vertex its place or kFree; empty: all are free
  unsigned climbs;                      // number of hill climbs after the greedy passes
  const Tuning& tuning = kTuning;
};

/// Lowers the traffic: the sum over edges of affinity times the distance between the places of the
/// edge's two vertices. Each of a few passes moves every vertex to the place where it gains most,
/// if the place's cap leaves room; otherwise exchanges it with a vertex there. Hill climbs follow
/// (climb.h). O((vertices + edges) log vertices).
void descend_on_traffic(const TrafficDescent& descent, Placement& placement);

/// Lowers the sum over edges of affinity times distance, as descend_on_traffic() does, but on a
/// sequence of coarser graphs: a V-cycle (Walshaw, "Multilevel refinement for combinatorial
/// optimisation problems", 2004). A vertex of a coarser graph is a cluster of tasks at one place,
/// so whole clusters move. Takes about twice as long as descend_on_traffic().
void cycle_on_traffic(const TrafficDescent& descent, Placement& placement);

/// The sum of affinity times distance over all edges, each edge counted once.
double traffic(const Distances& distances, const graphs::Graph& graph, const Placement& placement);

}  // namespace poise
