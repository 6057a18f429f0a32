// A graph of tasks cut in two along the tree of the machine, again and again, down to the places.
#pragma once

#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/partition/distances.h"
#include "poise/partition/partition.h"

namespace poise {

/// What multisection is to keep to.
struct Sections {
  std::span<const double> shares;        // per place what it can take, in proportion
  double tolerance = 0.05;               // a place may get this fraction more than its share
  std::vector<graphs::Part> fixed = {};  // per vertex its place or kFree; empty: all are free
  unsigned attempts = 4;                 // at each cut; more cut less
  unsigned climbs = 2;                   // after the cuts between several groups; 0: no cycle
  unsigned threads = 1;                  // halves cut at once; the answer is the same
  const Tuning& tuning = kTuning;
};

/// The place of each vertex. Level by level, coarsest first, where messages cost most, groups are
/// halved until each has its vertices; every cut has a hierarchy of graphs of its own, is made on
/// the smallest and refined on each (Karypis and Kumar, 1998). Where that took several cuts,
/// vertices then move between all of the level's groups at once, by the distances between them.
/// What a cut leaves of the tolerance is spread over the cuts below it. The tolerance is an aim,
/// not a promise. O((vertices + edges) log places).
std::vector<PlaceId> multisection(const Distances& distances, const Machine& machine,
                                  const graphs::Graph& graph, const Sections& sections);

}  // namespace poise
