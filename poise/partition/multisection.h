// SPDX-License-Identifier: BSD-3-Clause
// Cuts a graph of tasks along the machine's tree, level by level, down to single places.
#pragma once

#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/partition/distances.h"
#include "poise/partition/partition.h"
#include "poise/search/tuning.h"

namespace poise {

/// The input of a multisection besides the graph: limits of loads, fixed tasks, and effort.
struct Sections {
  std::span<const double> shares;  // per place the weight it should get, relative to other places
  double tolerance = 0.05;         // a place may get this fraction more than its share
  std::vector<graphs::Part> fixed = {};  // per vertex its place or kFree; empty: all are free
  unsigned attempts = 4;                 // seeds tried per bisection; more seeds give a smaller cut
  /// If a level has more than two groups, a V-cycle with this number of hill climbs improves the
  /// division among them. 0: no V-cycle.
  unsigned climbs = 2;
  unsigned threads = 1;  // number of halves that are cut at the same time; no effect on the result
  const Tuning& tuning = kTuning;
};

/// Returns the place of each vertex. Goes down the tree of the machine from its coarsest level,
/// where messages cost most. At each level, it cuts the vertices in two, then each half again,
/// until every group of the level has got its vertices. Every cut is a multilevel bisection
/// (Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning irregular
/// graphs", 1998). If the level took several cuts, vertices then move between the groups to lower
/// the sum of affinity times distance. All cuts on the way down share one tolerance, which is a
/// goal, not a guarantee: a heavy vertex may exceed it. O((vertices + edges) log places).
std::vector<PlaceId> multisection(const Distances& distances, const Machine& machine,
                                  const graphs::Graph& graph, const Sections& sections);

}  // namespace poise
