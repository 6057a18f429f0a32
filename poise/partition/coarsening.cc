// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/coarsening.h"

#include <limits>

#include "poise/partition/partition.h"

namespace poise::graphs {

namespace {

constexpr Vertex kNone = std::numeric_limits<Vertex>::max();

class Matcher {
 public:
  Matcher(const Graph& graph, std::span<const Part> fixed, double max_weight)
      : graph_(graph), fixed_(fixed), max_weight_(max_weight), mate_(graph.num_vertices(), kNone) {}

  void match_neighbours() {
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) {
      if (mate_[v] != kNone) continue;
      const Vertex best = heaviest_neighbour(v, true);
      if (best != kNone) join(v, best);
    }
  }

  /// Pairs unmatched vertices that have the same heaviest neighbour, and unmatched vertices without
  /// neighbours.
  void match_strays() {
    std::vector<Vertex> waiting(std::size_t{graph_.num_vertices()} + 1, kNone);
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) {
      if (mate_[v] != kNone) continue;
      const Vertex hub =
          graph_.degree(v) == 0 ? graph_.num_vertices() : heaviest_neighbour(v, false);
      Vertex& other = waiting[hub];
      if (other != kNone && may_join(v, other)) {
        join(v, other);
        other = kNone;
      } else {
        other = v;
      }
    }
  }

  bool leaves_many_alone() const { return num_matched_ < graph_.num_vertices() / 10 * 8; }

  Matching result() const {
    Matching matching{std::vector<Vertex>(graph_.num_vertices()), 0};
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) {
      const bool is_first = mate_[v] == kNone || v < mate_[v];
      matching.group_of[v] = is_first ? matching.num_groups++ : matching.group_of[mate_[v]];
    }
    return matching;
  }

 private:
  bool may_join(Vertex a, Vertex b) const {
    if (graph_.weight[a] + graph_.weight[b] > max_weight_) return false;
    return fixed_.empty() || fixed_[a] == kFree || fixed_[b] == kFree || fixed_[a] == fixed_[b];
  }

  /// Of equally heavy edges, takes the one to the lightest neighbour, so that clusters grow evenly.
  /// If these neighbours are equally light, takes the first one in the row.
  Vertex heaviest_neighbour(Vertex v, bool only_free) const {
    Vertex best = kNone;
    double best_affinity = 0, best_weight = 0;
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const Vertex other = graph_.to[e];
      const double affinity = graph_.affinity[e];
      if (best != kNone && affinity < best_affinity) continue;
      if (only_free && (mate_[other] != kNone || !may_join(v, other))) continue;
      const double weight = graph_.weight[other];
      if (best != kNone && affinity == best_affinity && weight >= best_weight) continue;
      best = other;
      best_affinity = affinity;
      best_weight = weight;
    }
    return best;
  }

  void join(Vertex a, Vertex b) {
    mate_[a] = b;
    mate_[b] = a;
    num_matched_ += 2;
  }

  const Graph& graph_;
  std::span<const Part> fixed_;
  double max_weight_;
  std::vector<Vertex> mate_;
  Vertex num_matched_ = 0;
};

}  // namespace

Matching match_heavy_edges(const Graph& graph, std::span<const Vertex> fixed, double max_weight) {
  Matcher matcher(graph, fixed, max_weight);
  matcher.match_neighbours();
  if (matcher.leaves_many_alone()) matcher.match_strays();
  return matcher.result();
}

}  // namespace poise::graphs
