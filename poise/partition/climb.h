// SPDX-License-Identifier: BSD-3-Clause
// Hill climbing on the parts of a graph, after Fiduccia and Mattheyses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "poise/partition/gain_queue.h"
#include "poise/partition/partition.h"

namespace poise::graphs {

/// The best part for a vertex, and the gain of moving it there.
struct Target {
  Part part;
  double gain;
};

struct ClimbLimits {
  std::size_t patience;            // moves without a new best after which a climb ends
  Vertex max_degree = ~Vertex{0};  // a moved vertex's neighbours of higher degree keep their gains
  double rounding = 0;             // a new best must exceed the old one by this fraction
};

/// Moves vertices in order of gain, even if the gain is negative, each at most once; then undoes
/// moves back to the best state seen. The method is that of Fiduccia and Mattheyses, "A linear-time
/// heuristic for improving network partitions", 1982, for any number of parts and any gain. `parts`
/// represents the state:
///
///     std::optional<Target> target_of(Vertex v);  // nothing if v cannot or should not move
///     Part part_of(Vertex v);
///     void move(Vertex v, Part to);
///
/// `limits(n)` returns the limits if n vertices can move at first. Returns true if the state has
/// improved. O((vertices + edges) log vertices).
template <typename Parts, typename Limits>
bool climb(const Graph& graph, Parts& parts, const Limits& limits_for) {
  GainQueue queue(graph.num_vertices());
  std::vector<std::uint8_t> is_locked(graph.num_vertices(), 0);
  const auto offer = [&](Vertex v) {
    if (is_locked[v]) return;
    if (const std::optional<Target> target = parts.target_of(v)) queue.push(v, target->gain);
  };
  for (Vertex v = 0; v < graph.num_vertices(); ++v) offer(v);
  const ClimbLimits limits = limits_for(queue.size());
  std::vector<std::pair<Vertex, Part>> moves;  // each with the part that the vertex came from
  double gained = 0, best = 0;
  std::size_t best_length = 0;
  while (moves.size() - best_length < limits.patience) {
    const std::optional<Gain> next = queue.pop();
    if (!next) break;
    const Vertex v = next->vertex;
    const std::optional<Target> target = parts.target_of(v);
    if (!target) continue;
    if (target->gain < next->gain) {
      queue.push(v, target->gain);
      continue;
    }
    is_locked[v] = 1;
    moves.emplace_back(v, parts.part_of(v));
    parts.move(v, target->part);
    gained += target->gain;
    if (gained > best * (1 + limits.rounding)) best = gained, best_length = moves.size();
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      if (graph.degree(graph.to[e]) <= limits.max_degree) offer(graph.to[e]);
  }
  for (; moves.size() > best_length; moves.pop_back())
    parts.move(moves.back().first, moves.back().second);
  return best > 0;
}

}  // namespace poise::graphs
