// A small graph cut in two: greedy growing, then Fiduccia-Mattheyses refinement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/partition/graph.h"
#include "poise/search/tuning.h"

namespace poise::graphs {

enum class Side : std::uint8_t { left, right, either };

struct Split {
  std::vector<Side> fixed;  // per vertex; `either` is free to choose
  double left_weight = 0;   // aimed at
  double slack = 0;         // left may be off by this much without harm
  Vertex attempts = 2;      // from so many vertices, at least two
};

/// The side of each vertex. Grows the left from vertices far apart, improves each by moving
/// vertices singly with hill climbing, and takes the one closest to its weight, then of least cut.
/// O((vertices + edges) log vertices).
std::vector<Side> bisect(const Graph& graph, const Split& split, const Tuning& tuning = kTuning);

/// Moves vertices singly, with hill climbing, to get closer to the weight, then to cut less. Those
/// that are fixed must be on their side. O((vertices + edges) log vertices).
void improve(const Graph& graph, const Split& split, std::vector<Side>& sides,
             const Tuning& tuning = kTuning);

}  // namespace poise::graphs
