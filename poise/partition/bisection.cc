// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/bisection.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>
#include <utility>

#include "poise/partition/climb.h"
#include "poise/partition/gain_queue.h"

namespace poise::graphs {

namespace {

/// A queue entry: a vertex that may change sides, and its gain. The entry is outdated if the gain
/// of the vertex has changed since.
using Move = Gain;

Side other(Side side) { return side == Side::left ? Side::right : Side::left; }

class Bisection {
 public:
  /// Starts with the given sides. If none are given, all vertices start on the right, except those
  /// fixed to the left.
  Bisection(const Graph& graph, const Split& split, const Tuning& tuning,
            std::span<const Side> sides = {})
      : graph_(graph),
        split_(split),
        tuning_(tuning),
        side_(graph.num_vertices(), Side::right),
        gain_(graph.num_vertices(), 0),
        is_skipped_(graph.num_vertices(), 0) {
    std::ranges::copy(split.pull_left, gain_.begin());
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
      for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
        gain_[v] -= graph.affinity[e];
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
      if (split.fixed[v] == Side::left || (!sides.empty() && sides[v] == Side::left)) flip(v);
  }

  /// Moves vertices to the left side, always the one with the greatest gain, until the left side
  /// has the requested weight.
  void grow(Vertex seed) {
    std::priority_queue<Move> front;
    for (Vertex v = 0; v < graph_.num_vertices(); ++v)
      if (side_[v] == Side::left) push_neighbours(v, front);
    if (front.empty() && is_addable(seed)) front.push({gain_[seed], seed});
    Vertex next_lone = 0, next_any = 0;
    while (left_weight_ < split_.left_weight) {
      Vertex v = take(front);
      if (v == graph_.num_vertices()) v = next_addable(next_lone, true);
      if (v == graph_.num_vertices()) v = next_addable(next_any, false);
      if (v == graph_.num_vertices()) break;
      const double after = left_weight_ + graph_.weight[v];
      const bool overshoots = after - split_.left_weight > split_.left_weight - left_weight_;
      if (overshoots && after > split_.left_weight + split_.slack) {
        is_skipped_[v] = 1;
        continue;
      }
      flip(v);
      push_neighbours(v, front);
    }
  }

  void improve() {
    for (int pass = 0; pass < tuning_.refining_passes; ++pass)
      if (!improve_once()) return;
  }

  /// A lower score is better. Scores are compared first by how far the imbalance exceeds the slack,
  /// then by the cut.
  std::pair<double, double> score() const { return {violation(), cut_}; }

  std::vector<Side> sides() && { return std::move(side_); }

  // The functions that climb() calls.
  bool make_next() {
    const Vertex v = next_move();
    if (v == graph_.num_vertices()) return false;
    flip(v);
    locked_[v] = 1;
    moved_.push_back(v);
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) enqueue(graph_.to[e]);
    return true;
  }

  bool is_new_best() {
    if (score() >= best_) return false;
    best_ = score();
    return true;
  }

  void undo_last() {
    flip(moved_.back());
    moved_.pop_back();
  }

 private:
  double violation() const {
    return std::max(0.0, std::fabs(left_weight_ - split_.left_weight) - split_.slack);
  }

  bool is_addable(Vertex v) const {
    return split_.fixed[v] == Side::either && side_[v] == Side::right && !is_skipped_[v];
  }

  Vertex take(std::priority_queue<Move>& front) const {
    while (!front.empty()) {
      const Move top = front.top();
      front.pop();
      if (is_addable(top.vertex) && gain_[top.vertex] == top.gain) return top.vertex;
    }
    return graph_.num_vertices();
  }

  /// When no neighbour is left to add, vertices without edges come next, because they cut no edge.
  /// Only then does growing restart from another vertex.
  Vertex next_addable(Vertex& next, bool without_edges) const {
    for (; next < graph_.num_vertices(); ++next)
      if (is_addable(next) && (!without_edges || graph_.degree(next) == 0)) return next++;
    return next;
  }

  void push_neighbours(Vertex v, std::priority_queue<Move>& front) const {
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e)
      if (is_addable(graph_.to[e])) front.push({gain_[graph_.to[e]], graph_.to[e]});
  }

  void flip(Vertex v) {
    cut_ -= gain_[v];
    gain_[v] = -gain_[v];
    side_[v] = other(side_[v]);
    left_weight_ += side_[v] == Side::left ? graph_.weight[v] : -graph_.weight[v];
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const Vertex u = graph_.to[e];
      gain_[u] += (side_[u] == side_[v] ? -2 : 2) * graph_.affinity[e];
    }
  }

  /// Runs one hill climb (climb.h), in which each vertex changes sides at most once.
  bool improve_once() {
    fill_heaps();
    best_ = score();
    moved_.clear();
    const Vertex size = graph_.num_vertices();
    return climb(*this,
                 std::min<std::size_t>(tuning_.patience, size / 4) + size / tuning_.patience_share);
  }

  void fill_heaps() {
    locked_.assign(graph_.num_vertices(), 0);
    heap_[0] = heap_[1] = {};
    const bool is_off = violation() > 0;
    for (Vertex v = 0; v < graph_.num_vertices(); ++v)
      if (is_off || touches_other_side(v) || is_pulled_over(v)) enqueue(v);
  }

  bool touches_other_side(Vertex v) const {
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e)
      if (side_[graph_.to[e]] != side_[v]) return true;
    return false;
  }

  bool is_pulled_over(Vertex v) const {
    if (split_.pull_left.empty()) return false;
    return side_[v] == Side::right ? split_.pull_left[v] > 0 : split_.pull_left[v] < 0;
  }

  void enqueue(Vertex v) {
    if (locked_[v] || split_.fixed[v] != Side::either) return;
    heap_[side_[v] == Side::left ? 0 : 1].push({gain_[v], v});
  }

  /// Takes from each side the vertex whose change of sides would gain most. Returns the one with
  /// the higher gain among those that may change sides, or num_vertices() if none may. A vertex
  /// may change sides if this brings the left side's weight closer to the requested weight, or if
  /// the left side's weight then differs from the requested weight by at most split_.slack plus the
  /// weight of the vertex.
  Vertex next_move() {
    const Move* best = nullptr;
    const double off = left_weight_ - split_.left_weight;
    for (const Side from : {Side::left, Side::right}) {
      auto& heap = heap_[from == Side::left ? 0 : 1];
      while (!heap.empty() && !is_current(heap.top(), from)) heap.pop();
      if (heap.empty()) continue;
      const Move& top = heap.top();
      const double weight = graph_.weight[top.vertex];
      const double off_after = std::fabs(off + (from == Side::left ? -weight : weight));
      if (off_after > split_.slack + weight && off_after >= std::fabs(off)) continue;
      if (best == nullptr || *best < top) best = &top;
    }
    return best == nullptr ? graph_.num_vertices() : best->vertex;
  }

  bool is_current(const Move& move, Side from) const {
    return !locked_[move.vertex] && side_[move.vertex] == from && gain_[move.vertex] == move.gain;
  }

  const Graph& graph_;
  const Split& split_;
  const Tuning& tuning_;
  std::vector<Side> side_;
  LargeArray<double> gain_;  // decrease of the cut if the vertex changes sides
  double left_weight_ = 0;
  double cut_ = 0;
  // Per vertex: true if grow() has skipped it, because it would have made the left side too heavy.
  std::vector<std::uint8_t> is_skipped_;
  std::vector<std::uint8_t> locked_;  // per vertex: true if it has changed sides in this climb
  std::vector<Vertex> moved_;         // vertices that this climb has moved, in the order of moves
  std::pair<double, double> best_;    // score of the best state that this climb has seen
  std::priority_queue<Move> heap_[2];
};

/// Returns the vertex that a breadth-first search from `start` reaches last. It is far from
/// `start`, at one end of the graph.
Vertex far_from(const Graph& graph, Vertex start) {
  std::vector<std::uint8_t> seen(graph.num_vertices(), 0);
  std::vector<Vertex> queue{start};
  seen[start] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::size_t e = graph.first[queue[i]]; e < graph.first[queue[i] + 1]; ++e)
      if (const Vertex v = graph.to[e]; !seen[v]) {
        seen[v] = 1;
        queue.push_back(v);
      }
  return queue.back();
}

}  // namespace

std::vector<Side> bisect(const Graph& graph, const Split& split, const Tuning& tuning) {
  if (graph.num_vertices() == 0) return {};
  const Vertex near_end = far_from(graph, 0);
  std::vector<Vertex> seeds{near_end, far_from(graph, near_end)};
  for (Vertex i = 2; i < split.attempts; ++i)
    seeds.push_back(graph.num_vertices() / (split.attempts - 1) * (i - 1));
  std::optional<Bisection> best;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (std::find(seeds.begin(), seeds.begin() + i, seeds[i]) != seeds.begin() + i) continue;
    Bisection next(graph, split, tuning);
    next.grow(seeds[i]);
    next.improve();
    if (!best || next.score() < best->score()) best.emplace(std::move(next));
  }
  return std::move(*best).sides();
}

void improve(const Graph& graph, const Split& split, std::vector<Side>& sides,
             const Tuning& tuning) {
  Bisection bisection(graph, split, tuning, sides);
  bisection.improve();
  sides = std::move(bisection).sides();
}

}  // namespace poise::graphs
