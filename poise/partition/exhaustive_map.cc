// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/exhaustive_map.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace poise {

namespace {

using graphs::Graph;
using graphs::Vertex;

constexpr double kRounding = 1e-12;

class Enumeration {
 public:
  Enumeration(const RankProblem& problem, Vertex ranks, std::size_t max_visits,
              std::vector<Slot>& best)
      : problem_(problem),
        ranks_(ranks),
        visits_left_(max_visits),
        best_(best),
        best_traffic_(traffic(problem, best)),
        best_busiest_(busiest(best)),
        slot_of_(best.size()),
        is_taken_(best.size(), 0),
        is_like_previous_(best.size(), 0) {
    for (Slot s = 1; s < best.size(); ++s) is_like_previous_[s] = is_like_previous(s) ? 1 : 0;
    for (const double bytes : problem.graph.affinity) open_ += bytes / 2;
    for (Slot a = 0; a < best.size(); ++a)
      for (Slot b = 0; b < a; ++b) least_ = std::min(least_, distance(a, b));
    if (best.size() < 2) least_ = 0;
  }

  /// Tries all slots for rank v and all later ranks. `so_far` is the traffic between the ranks
  /// before v.
  void place(Vertex v, double so_far) {
    if (visits_left_ == 0) return;
    --visits_left_;
    if (so_far + open_ * least_ > best_traffic_ * (1 + kRounding)) return;
    if (v == ranks_) return accept(so_far);
    for (Slot s = 0; s < is_taken_.size(); ++s) {
      // If the previous slot is free and interchangeable with slot s, slot s need not be tried.
      if (is_taken_[s] || (is_like_previous_[s] && !is_taken_[s - 1])) continue;
      double more = 0, bytes = 0;
      for (std::size_t e = problem_.graph.first[v]; e < problem_.graph.first[v + 1]; ++e) {
        const Vertex u = problem_.graph.to[e];
        if (u > v) continue;
        more += problem_.graph.affinity[e] * distance(s, slot_of_[u]);
        bytes += problem_.graph.affinity[e];
      }
      slot_of_[v] = s;
      is_taken_[s] = 1;
      open_ -= bytes;
      place(v + 1, so_far + more);
      open_ += bytes;
      is_taken_[s] = 0;
    }
  }

  bool is_complete() const { return visits_left_ > 0; }

 private:
  double distance(Slot a, Slot b) const {
    return problem_.distances(problem_.slots[a], problem_.slots[b]);
  }

  /// True if slots s - 1 and s are interchangeable: both are on one node and have the same
  /// distances to all other slots.
  bool is_like_previous(Slot s) const {
    if (problem_.distances.node_of(problem_.slots[s]) !=
        problem_.distances.node_of(problem_.slots[s - 1]))
      return false;
    for (Slot t = 0; t < best_.size(); ++t)
      if (t != s && t != s - 1 && distance(s, t) != distance(s - 1, t)) return false;
    return true;
  }

  void accept(double traffic) {
    Slot free = 0;
    for (Vertex v = ranks_; v < slot_of_.size(); ++v, ++free) {
      while (is_taken_[free]) ++free;
      slot_of_[v] = free;
    }
    const double busiest = this->busiest(slot_of_);
    const bool is_less = traffic < best_traffic_ * (1 - kRounding);
    if (!is_less && busiest >= best_busiest_) return;
    best_ = slot_of_;
    best_traffic_ = std::min(traffic, best_traffic_);
    best_busiest_ = busiest;
  }

  double busiest(const std::vector<Slot>& slot_of) const {
    std::vector<double> bytes(problem_.distances.num_nodes(), 0);
    const auto node_of = [&](Vertex v) {
      return problem_.distances.node_of(problem_.slots[slot_of[v]]);
    };
    for (Vertex v = 0; v < ranks_; ++v)
      for (std::size_t e = problem_.graph.first[v]; e < problem_.graph.first[v + 1]; ++e)
        if (node_of(v) != node_of(problem_.graph.to[e]))
          bytes[node_of(v)] += problem_.graph.affinity[e];
    return *std::max_element(bytes.begin(), bytes.end());
  }

  const RankProblem& problem_;
  const Vertex ranks_;
  std::size_t visits_left_;
  std::vector<Slot>& best_;
  double best_traffic_, best_busiest_;
  std::vector<Slot> slot_of_;
  std::vector<std::uint8_t> is_taken_;          // per slot
  std::vector<std::uint8_t> is_like_previous_;  // per slot
  double open_ = 0;                             // bytes of edges with an end that has no slot yet
  double least_ = std::numeric_limits<double>::infinity();  // smallest distance between two slots
};

}  // namespace

bool try_all_maps(const RankProblem& problem, Vertex ranks, std::size_t max_visits,
                  std::vector<Slot>& slot_of) {
  Enumeration enumeration(problem, ranks, max_visits, slot_of);
  enumeration.place(0, 0);
  return enumeration.is_complete();
}

}  // namespace poise
