// SPDX-License-Identifier: BSD-3-Clause
// Hill climbing that moves vertices between the parts of a graph, after Fiduccia and Mattheyses.
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
  std::size_t patience = 0;  // a climb ends after this many moves without a new best state
  /// After a move, the gains of neighbours with a higher degree than this are not updated.
  Vertex max_degree = ~Vertex{0};
  double rounding = 0;  // a new best gain must exceed the old one by this fraction
};

/// Moves vertices, even if that makes the state worse, until the last `patience` moves have brought
/// no new best state; then undoes moves back to the best state seen. The method is that of Fiduccia
/// and Mattheyses, "A linear-time heuristic for improving network partitions", 1982. `state`
/// chooses the moves:
///
///     bool make_next();    // makes the next move; false if there is none
///     bool is_new_best();  // true if the state is better than all earlier states
///     void undo_last();
///
/// Returns true if the state has improved.
template <typename State>
bool climb(State& state, std::size_t patience) {
  std::size_t made = 0, made_at_best = 0;
  while (made - made_at_best < patience && state.make_next()) {
    ++made;
    if (state.is_new_best()) made_at_best = made;
  }
  for (; made > made_at_best; --made) state.undo_last();
  return made_at_best > 0;
}

/// The state of a climb for any number of parts and any definition of gain. Each vertex moves at
/// most once, the vertex with the greatest gain first. `parts` must have these member functions:
///
///     std::optional<Target> target_of(Vertex v);  // nothing if v cannot or should not move
///     Part part_of(Vertex v);
///     void move(Vertex v, Part to);
template <typename Parts>
class MovesByGain {
 public:
  MovesByGain(const Graph& graph, Parts& parts)
      : graph_(graph),
        parts_(parts),
        queue_(graph.num_vertices()),
        is_locked_(graph.num_vertices(), 0) {
    for (Vertex v = 0; v < graph.num_vertices(); ++v) offer(v);
  }

  /// Number of vertices that can move when the climb starts.
  std::size_t num_offered() const { return queue_.size(); }

  void set(const ClimbLimits& limits) { limits_ = limits; }

  bool make_next() {
    while (const std::optional<Gain> top = queue_.pop()) {
      const std::optional<Target> target = parts_.target_of(top->vertex);
      if (target && target->gain >= top->gain) {
        make(top->vertex, *target);
        return true;
      }
      if (target) queue_.push(top->vertex, target->gain);
    }
    return false;
  }

  bool is_new_best() {
    if (gained_ <= best_ * (1 + limits_.rounding)) return false;
    best_ = gained_;
    return true;
  }

  void undo_last() {
    parts_.move(moves_.back().first, moves_.back().second);
    moves_.pop_back();
  }

 private:
  void offer(Vertex v) {
    if (is_locked_[v]) return;
    if (const std::optional<Target> target = parts_.target_of(v)) queue_.push(v, target->gain);
  }

  void make(Vertex v, const Target& target) {
    is_locked_[v] = 1;
    moves_.emplace_back(v, parts_.part_of(v));
    parts_.move(v, target.part);
    gained_ += target.gain;
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e)
      if (graph_.degree(graph_.to[e]) <= limits_.max_degree) offer(graph_.to[e]);
  }

  const Graph& graph_;
  Parts& parts_;
  ClimbLimits limits_;
  GainQueue queue_;
  std::vector<std::uint8_t> is_locked_;
  std::vector<std::pair<Vertex, Part>> moves_;  // each vertex, and the part from which it moved
  double gained_ = 0, best_ = 0;
};

/// Climbs with the moves of MovesByGain. `limits_for(n)` returns the limits of a climb at whose
/// start n vertices can move. O((vertices + edges) log vertices).
template <typename Parts, typename Limits>
bool climb_by_gain(const Graph& graph, Parts& parts, const Limits& limits_for) {
  MovesByGain moves(graph, parts);
  const ClimbLimits limits = limits_for(moves.num_offered());
  moves.set(limits);
  return climb(moves, limits.patience);
}

}  // namespace poise::graphs
