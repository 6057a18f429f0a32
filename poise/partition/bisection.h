// SPDX-License-Identifier: BSD-3-Clause
// Bisection of a small graph: greedy growing, then Fiduccia-Mattheyses passes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/partition/graph.h"
#include "poise/search/tuning.h"

namespace poise::graphs {

enum class Side : std::uint8_t { left, right, either };

struct Split {
  std::vector<Side> fixed;  // per vertex: the side on which it must stay, or `either`
  double left_weight = 0;   // requested weight of the left side
  double slack = 0;         // allowed difference from left_weight
  Vertex attempts = 2;      // number of seeds to grow from, at least 2
  /// Per vertex, how strongly its edges to vertices outside this graph pull it to the left side:
  /// what these edges add to the cut if the vertex is on the right side, minus what they add if it
  /// is on the left side. Empty if there are no such edges.
  std::vector<double> pull_left = {};
};

/// Returns the side of each vertex. Grows the left side from several vertices that are far apart
/// and improves each result with improve(). Returns the result that exceeds the slack least; ties:
/// the one with the smallest cut. O((vertices + edges) log vertices).
std::vector<Side> bisect(const Graph& graph, const Split& split, const Tuning& tuning = kTuning);

/// Moves single vertices by hill climbing, first to reach the requested weight, then to lower the
/// cut. Fixed vertices must already be on their side. O((vertices + edges) log vertices).
void improve(const Graph& graph, const Split& split, std::vector<Side>& sides,
             const Tuning& tuning = kTuning);

}  // namespace poise::graphs
