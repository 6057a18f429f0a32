// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/traffic_descent.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "poise/base/keep_least.h"
#include "poise/partition/climb.h"
#include "poise/partition/coarsening.h"
#include "poise/partition/tuning.h"

namespace poise {

namespace {

using graphs::Graph;
using graphs::Matching;
using graphs::Part;
using graphs::Target;
using graphs::Vertex;

struct Near {
  PlaceId place;
  double affinity;
};

/// A vertex whose degree is higher than this is a hub. Its edges are not examined once for each of
/// its neighbours, because that would take quadratic time. The limit is so high that a graph in
/// which most vertices have about the same degree has no hub.
std::size_t max_degree(const Graph& graph, const Tuning& tuning) {
  const std::size_t vertices = std::max<std::size_t>(1, graph.num_vertices());
  return std::max<std::size_t>(kPartitionTuning.max_degree,
                               tuning.candidates * (graph.to.size() / vertices));
}

class Descent {
 public:
  Descent(const TrafficDescent& given, Placement& placement)
      : distances_(given.distances),
        places_(given.places),
        graph_(given.graph),
        caps_(given.caps),
        fixed_(given.fixed),
        tuning_(given.tuning),
        max_degree_(max_degree(graph_, tuning_)),
        placement_(placement),
        weight_(caps_.size(), 0),
        members_(caps_.size()),
        pull_(caps_.size(), 0) {
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) {
      weight_[at(v)] += graph_.weight[v];
      members_[at(v)].push_back(v);
    }
    is_due_.assign(graph_.num_vertices(), 1);
  }

  /// Moves each task, or exchanges it with another one, if that lowers the traffic. The first pass
  /// visits all tasks. Later passes visit only tasks that have moved or whose neighbours have
  /// moved. Returns false if no task has moved.
  bool pass() {
    bool any = false;
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) {
      if (!std::exchange(is_due_[v], 0) || !is_free(v)) continue;
      any = step(v) || any;
    }
    return any;
  }

  /// Runs one hill climb. Returns false if it found no better state.
  bool climb() {
    return climb_by_gain(graph_, *this, [&](std::size_t) {
      return graphs::ClimbLimits{tuning_.patience + graph_.num_vertices() / tuning_.patience_share,
                                 static_cast<Vertex>(max_degree_)};
    });
  }

  // The member functions that climb_by_gain() calls.
  std::optional<Target> target_of(Vertex v) {
    return is_free(v) ? best_target(v, true) : std::nullopt;
  }
  PlaceId part_of(Vertex v) const { return at(v); }
  void move(Vertex v, PlaceId to) {
    auto& row = members_[at(v)];
    *std::find(row.begin(), row.end(), v) = row.back();
    row.pop_back();
    members_[to].push_back(v);
    weight_[at(v)] -= graph_.weight[v];
    weight_[to] += graph_.weight[v];
    placement_.move(v, to);
  }

 private:
  PlaceId at(Vertex v) const { return placement_.of(v); }
  double distance(PlaceId a, PlaceId b) const { return distances_(places_[a], places_[b]); }
  bool is_free(Vertex v) const { return fixed_.empty() || fixed_[v] == graphs::kFree; }
  bool has_room(PlaceId p, double more) const { return weight_[p] + more <= caps_[p]; }
  std::span<const Vertex> neighbours(Vertex v) const {
    return {graph_.to.data() + graph_.first[v], graph_.degree(v)};
  }
  void gather(Vertex v) {
    near_.clear();
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const PlaceId p = at(graph_.to[e]);
      if (pull_[p] == 0) near_.push_back({p, 0});
      pull_[p] += graph_.affinity[e];
    }
    for (Near& near : near_) near.affinity = std::exchange(pull_[near.place], 0);
  }

  /// Returns what the messages of a task would cost if the task were at place p. gather() must have
  /// been called for the task.
  double cost_at(PlaceId p) const {
    double cost = 0;
    for (const Near& near : near_) cost += near.affinity * distance(near.place, p);
    return cost;
  }

  /// Returns the place to which moving v gains most, among the places of v's partners except v's
  /// current place. The gain may be negative. If needs_room is true, only places with room for v
  /// count. Returns nothing if there is no such place.
  std::optional<Target> best_target(Vertex v, bool needs_room) {
    gather(v);
    const PlaceId own = at(v);
    if (near_.empty() || (near_.size() == 1 && near_[0].place == own)) return std::nullopt;
    const double cost = cost_at(own);
    candidates_.assign(near_.begin(), near_.end());
    keep_least(candidates_, tuning_.candidates, [](const Near& a, const Near& b) {
      return std::tie(b.affinity, a.place) < std::tie(a.affinity, b.place);
    });
    std::optional<Target> best;
    for (const Near& near : candidates_) {
      if (near.place == own || caps_[near.place] <= 0) continue;
      if (needs_room && !has_room(near.place, graph_.weight[v])) continue;
      const double gain = cost - cost_at(near.place);
      if (!best || gain > best->gain || (gain == best->gain && near.place < best->part))
        best = {near.place, gain};
    }
    return best;
  }

  bool step(Vertex v) {
    const std::optional<Target> wanted = best_target(v, false);
    if (!wanted || wanted->gain <= 0) return false;
    if (has_room(wanted->part, graph_.weight[v])) {
      make_due_and_move(v, wanted->part);
      return true;
    }
    if (exchange(v, *wanted)) return true;
    const std::optional<Target> second = best_target(v, true);
    if (!second || second->gain <= 0) return false;
    make_due_and_move(v, second->part);
    return true;
  }

  double affinity_between(Vertex v, Vertex u) const {
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e)
      if (graph_.to[e] == u) return graph_.affinity[e];
    return 0;
  }

  /// Exchanges v with a task at the place `wanted.part`: the task for which the gain is largest,
  /// except hubs. Returns false if no exchange has a gain.
  bool exchange(Vertex v, Target wanted) {
    const PlaceId own = at(v);
    double best = 0;
    std::optional<Vertex> partner;
    const std::span<const Vertex> members = members_[wanted.part];
    for (const Vertex u : members.first(std::min(members.size(), tuning_.candidates))) {
      const double more = graph_.weight[v] - graph_.weight[u];
      if (!is_free(u) || graph_.degree(u) > max_degree_) continue;
      if (!has_room(wanted.part, more) || !has_room(own, -more)) continue;
      gather(u);
      // The gain of v is computed as if u stayed, and the gain of u as if v stayed. So both gains
      // count the messages between v and u as saved. But after an exchange, v and u are as far
      // apart as before, so the cost `apart` of these messages is subtracted.
      const double apart =
          affinity_between(v, u) * (distance(own, wanted.part) + distance(wanted.part, own));
      const double gain = wanted.gain + cost_at(wanted.part) - cost_at(own) - apart;
      if (gain > best) best = gain, partner = u;
    }
    if (!partner) return false;
    make_due_and_move(v, wanted.part);
    make_due_and_move(*partner, own);
    return true;
  }

  void make_due_and_move(Vertex v, PlaceId to) {
    move(v, to);
    is_due_[v] = 1;
    for (const Vertex u : neighbours(v)) is_due_[u] = 1;
  }

  const Distances& distances_;
  const std::span<const PlaceId> places_;
  const Graph& graph_;
  const std::span<const double> caps_;
  const std::span<const Part> fixed_;
  const Tuning& tuning_;
  const std::size_t max_degree_;
  Placement& placement_;
  std::vector<double> weight_;                // per place
  std::vector<std::vector<Vertex>> members_;  // per place
  std::vector<double> pull_;             // per place: affinity of one vertex to it; 0 between calls
  std::vector<Near> near_, candidates_;  // places of partners of the current vertex
  std::vector<std::uint8_t> is_due_;     // per vertex
};

}  // namespace

void descend_on_traffic(const TrafficDescent& given, Placement& placement) {
  Descent descent(given, placement);
  for (int i = 0; i < given.tuning.refining_passes && descent.pass(); ++i) {
  }
  for (unsigned i = 0; i < given.climbs && descent.climb(); ++i) {
  }
}

void cycle_on_traffic(const TrafficDescent& given, Placement& placement) {
  const auto& [distances, places, graph, caps, fixed, climbs, tuning] = given;
  const double coarsest = tuning.descent_coarsest * places.size();
  if (graph.num_vertices() > coarsest) {
    const double weight = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
    const Matching matching =
        match_heavy_edges(graph, placement.places(), tuning.heaviest_cluster * weight / coarsest);
    if (matching.num_groups < tuning.max_kept * graph.num_vertices()) {
      Placement coarse(matching.num_groups);
      std::vector<Part> coarse_fixed(fixed.empty() ? 0 : matching.num_groups, graphs::kFree);
      for (Vertex v = 0; v < graph.num_vertices(); ++v) {
        coarse.move(matching.group_of[v], placement.of(v));
        if (!fixed.empty() && fixed[v] != graphs::kFree)
          coarse_fixed[matching.group_of[v]] = fixed[v];
      }
      const Graph coarse_graph = contract(graph, matching.group_of, matching.num_groups);
      cycle_on_traffic({distances, places, coarse_graph, caps, coarse_fixed, climbs, tuning},
                       coarse);
      for (Vertex v = 0; v < graph.num_vertices(); ++v)
        placement.move(v, coarse.of(matching.group_of[v]));
    }
  }
  descend_on_traffic(given, placement);
}

double traffic(const Distances& distances, const Graph& graph, const Placement& placement) {
  double twice = 0;
  for (Vertex v = 0; v < graph.num_vertices(); ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      twice += graph.affinity[e] * distances(placement.of(graph.to[e]), placement.of(v));
  return twice / 2;
}

}  // namespace poise
