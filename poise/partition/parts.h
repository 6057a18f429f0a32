// Parts of a graph improved: vertices move one by one to the part they are drawn to.
#pragma once

#include <span>

#include "poise/partition/partition.h"

namespace poise::graphs {

/// Moves free vertices between adjacent parts to lower the affinity cut, while parts keep to their
/// shares. First, overweight parts give away what costs least; then every vertex takes the best
/// part that has room; last, moves are made by best gain, good or bad, each vertex once, and undone
/// back to the best state seen (Fiduccia and Mattheyses, for many parts). A part may exceed its
/// tolerance by the weight `spare`: without any, coarse vertices could not move.
/// O((vertices + edges) log vertices), a few passes.
void improve_parts(const Graph& graph, const Shares& shares, double spare, std::span<Part> part_of);

}  // namespace poise::graphs
