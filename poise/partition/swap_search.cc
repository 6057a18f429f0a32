// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/swap_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "poise/base/random.h"
#include "poise/partition/tuning.h"

namespace poise {

namespace {

using graphs::Graph;
using graphs::Vertex;

/// Start temperatures of annealing, as multiples of the mean amount by which a swap changes the
/// traffic. A high temperature destroys the initial map, which is worthwhile only if there is time
/// to find a better one.
constexpr std::array kTemperatures = {0.6, 0.15, 0.04};
/// Two sums count as equal if their relative difference is below this value.
constexpr double kRounding = 1e-12;

/// The bytes by which the traffic of each node, and that between all nodes, exceeds TrafficLimits.
class Excess {
 public:
  Excess(const RankProblem& problem, const TrafficLimits& limits)
      : problem_(problem), limits_(limits) {
    if (!limits.are_set()) return;
    bytes_.resize(problem.distances.num_nodes());
    change_.assign(bytes_.size(), 0);
    is_touched_.assign(bytes_.size(), 0);
  }

  bool is_on() const { return !bytes_.empty(); }

  void add_all(std::span<const Slot> slot_of) {
    if (!is_on()) return;
    std::fill(bytes_.begin(), bytes_.end(), 0);
    internode_ = 0;
    for (Vertex v = 0; v < slot_of.size(); ++v)
      for (std::size_t e = problem_.graph.first[v]; e < problem_.graph.first[v + 1]; ++e) {
        const NodeId here = node_of(slot_of[v]), there = node_of(slot_of[problem_.graph.to[e]]);
        if (here == there) continue;
        bytes_[here] += problem_.graph.affinity[e];
        internode_ += problem_.graph.affinity[e] / 2;
      }
  }

  /// Records that one end of an edge moves from node `from` to node `to`, while its other end stays
  /// on node `end`.
  void note(NodeId from, NodeId to, NodeId end, double bytes) {
    if (from != end) note(from, -bytes), note(end, -bytes), internode_change_ -= bytes;
    if (to != end) note(to, bytes), note(end, bytes), internode_change_ += bytes;
  }

  /// Returns by how many bytes the recorded changes increase the excess over the limits.
  double noted() const {
    double more = over(internode_ + internode_change_, limits_.internode_bytes) -
                  over(internode_, limits_.internode_bytes);
    for (const NodeId node : touched_)
      more += over(bytes_[node] + change_[node], limits_.node_bytes) -
              over(bytes_[node], limits_.node_bytes);
    return more;
  }

  void settle(bool is_accepted) {
    for (const NodeId node : touched_) {
      if (is_accepted) bytes_[node] += change_[node];
      change_[node] = 0;
      is_touched_[node] = 0;
    }
    if (is_accepted) internode_ += internode_change_;
    internode_change_ = 0;
    touched_.clear();
  }

  NodeId node_of(Slot slot) const { return problem_.distances.node_of(problem_.slots[slot]); }

 private:
  static double over(double bytes, double limit) { return std::max(0.0, bytes - limit); }
  void note(NodeId node, double bytes) {
    if (!std::exchange(is_touched_[node], 1)) touched_.push_back(node);
    change_[node] += bytes;
  }

  const RankProblem& problem_;
  const TrafficLimits limits_;
  std::vector<double> bytes_, change_;  // per node
  double internode_ = 0, internode_change_ = 0;
  std::vector<NodeId> touched_;
  std::vector<std::uint8_t> is_touched_;  // per node
};

/// The groups of one level of the machine. For each slot: the first slot of its group, and one past
/// the last slot of its group.
struct SlotGroups {
  std::vector<Slot> first, last;
};

class SwapSearch {
 public:
  SwapSearch(const RankProblem& problem, const TrafficLimits& limits, const SwapEffort& effort,
             std::vector<Slot>& slot_of)
      : problem_(problem),
        graph_(problem.graph),
        slot_of_(slot_of),
        vertex_at_(slot_of.size()),
        excess_(problem, limits),
        random_(effort.seed),
        effort_(effort) {
    for (const PlaceId place : problem.slots)
      position_.push_back(problem.distances.position_of(place));
    where_.resize(slot_of.size());
    update();
    for (Vertex v = 0; v < slot_of.size(); ++v)
      if (graph_.degree(v) > 0) connected_.push_back(v);
    excess_.add_all(slot_of);
    find_groups();
    total_ = traffic(problem, slot_of);
    nearest_ = std::numeric_limits<double>::infinity();
    for (Slot s = 1; s < slot_of.size(); ++s) nearest_ = std::min(nearest_, distance(s - 1, s));
    // The penalty per byte above a limit must exceed the largest possible cost of a byte, which is
    // the largest distance.
    for (std::size_t s = 1; s < problem.slots.size(); s *= 2)
      penalty_ = std::max(penalty_, 16 * distance(0, s));
  }

  /// Anneals from several start temperatures, highest first. Each run starts from the best map of
  /// the run before.
  void anneal() {
    if (connected_.size() < 2) return;
    const double mean = mean_change();
    if (mean <= 0) return;
    const double edges = graph_.to.size() / 2.0;
    double budget = std::min(effort_.scans_per_edge * edges,
                             effort_.max_scans * std::min(1.0, effort_.large_edges / edges));
    for (const double temperature : kTemperatures) {
      const bool is_last = temperature == kTemperatures.back();
      const double scans = is_last ? budget : budget / 2;
      if (!is_last && scans < temperature * kPartitionTuning.hot_scans * edges) continue;
      cool_down(temperature * mean, scans);
      budget -= scans;
    }
  }

  /// Makes passes over the vertices: each vertex takes the best slot near its partners and gives
  /// its own in exchange. Ends at the latest after a pass in which no exchange lowers the cost.
  void descend() {
    std::vector<std::uint8_t> is_due(graph_.num_vertices(), 1);
    scans_ = 0;
    const double most = kPartitionTuning.descent_scans * graph_.to.size();
    for (int pass = 0; pass < kPartitionTuning.descent_passes; ++pass) {
      bool any = false;
      for (const Vertex v : connected_) {
        if (scans_ > most) return;
        if (std::exchange(is_due[v], 0)) any = step_down(v, is_due) || any;
      }
      if (!any) return;
    }
  }

 private:
  /// Anneals from this temperature until `budget` edges have been examined. Ends with the best map
  /// found.
  void cool_down(double temperature, double budget) {
    const double cooling = portable_exp(portable_log(kPartitionTuning.end_temperature) /
                                        kPartitionTuning.cooling_steps);
    std::vector<Slot> best = slot_of_;
    double now = 0, best_change = 0;
    scans_ = 0;
    for (int step = 1; step <= kPartitionTuning.cooling_steps; ++step, temperature *= cooling) {
      while (scans_ < budget * step / kPartitionTuning.cooling_steps) now += try_one(temperature);
      if (now < best_change) best = slot_of_, best_change = now;
    }
    if (now > best_change) restore(best);
  }

  double distance(Slot a, Slot b) const { return problem_.distances(position_[a], position_[b]); }

  /// Recomputes vertex_at_ and where_ from slot_of_.
  void update() {
    for (Vertex v = 0; v < slot_of_.size(); ++v) {
      vertex_at_[slot_of_[v]] = v;
      where_[v] = position_[slot_of_[v]];
    }
  }

  /// Collects the machine's levels with at least two groups of slots, except levels at which every
  /// group has a single slot. The innermost level comes last.
  void find_groups() {
    const std::size_t size = slot_of_.size();
    for (const Level& level : problem_.machine.levels()) {
      std::vector<Slot> first(size), last(size);
      bool splits = false, joins = false;
      std::size_t l = &level - problem_.machine.levels().data();
      const auto group = [&](Slot s) { return problem_.machine.group_of(l, problem_.slots[s]); };
      for (Slot begin = 0; begin < size;) {
        Slot end = begin;
        while (end < size && group(end) == group(begin)) ++end;
        for (Slot s = begin; s < end; ++s) first[s] = begin, last[s] = end;
        splits = splits || end - begin < size;
        joins = joins || end - begin > 1;
        begin = end;
      }
      if (splits && joins) groups_.push_back({std::move(first), std::move(last)});
    }
  }

  /// Returns by how much the traffic increases if two vertices exchange their slots. If limits are
  /// set, the increase of the penalty for exceeding them is added.
  double change(Vertex v, Vertex u) {
    const Slot a = slot_of_[v], b = slot_of_[u];
    double more = moved(v, u, a, b) + moved(u, v, b, a);
    if (excess_.is_on()) more += penalty_ * excess_.noted();
    return more;
  }

  double moved(Vertex v, Vertex other, Slot from, Slot to) {
    const RankDistances::Position before = position_[from], after = position_[to];
    double more = 0;
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const Vertex w = graph_.to[e];
      if (w == other) continue;
      const RankDistances::Position at = where_[w];
      more += graph_.affinity[e] * (problem_.distances(after, at) - problem_.distances(before, at));
      if (excess_.is_on()) excess_.note(before.node, after.node, at.node, graph_.affinity[e]);
    }
    scans_ += graph_.degree(v);
    return more;
  }

  void swap(Vertex v, Vertex u) {
    std::swap(slot_of_[v], slot_of_[u]);
    vertex_at_[slot_of_[v]] = v;
    vertex_at_[slot_of_[u]] = u;
    std::swap(where_[v], where_[u]);
  }

  Vertex neighbour(Vertex v) {
    return graph_.to[graph_.first[v] + random_.below(graph_.degree(v))];
  }

  /// Draws random edges until it finds one whose two ends could be closer to each other, or until
  /// it has drawn max_draws edges. Returns the edge drawn last.
  std::pair<Vertex, Vertex> edge_to_shorten() {
    Vertex v = 0, partner = 0;
    for (int draw = 0; draw < kPartitionTuning.max_draws; ++draw) {
      v = connected_[random_.below(connected_.size())];
      partner = neighbour(v);
      if (problem_.distances(where_[v], where_[partner]) > nearest_) break;
    }
    return {v, partner};
  }

  /// Proposes a vertex to swap with a vertex v such that v comes closer to its neighbour `partner`.
  /// Usually the proposed vertex is on a slot near the partner's, preferably with its own
  /// neighbours elsewhere, or it is a few edges away from `partner` in the graph. Rarely, it is any
  /// vertex.
  Vertex candidate(Vertex partner) {
    if (random_.below(kPartitionTuning.anywhere_one_in) == 0)
      return vertex_at_[random_.below(vertex_at_.size())];
    const std::uint64_t kind = random_.below(groups_.size() + 1);
    Vertex u = partner;
    if (kind < groups_.size()) {
      const Slot at = slot_of_[partner];
      const Slot first = groups_[kind].first[at], last = groups_[kind].last[at];
      for (int draw = 0; draw < kPartitionTuning.max_draws; ++draw) {
        u = vertex_at_[first + random_.below(last - first)];
        if (graph_.degree(u) == 0) break;
        const Slot other = slot_of_[neighbour(u)];
        if (other < first || other >= last) break;
      }
      return u;
    }
    for (std::uint64_t i = random_.below(3); i > 0; --i) u = neighbour(u);
    return u;
  }

  double mean_change() {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < kPartitionTuning.temperature_samples; ++i) {
      const auto [v, partner] = edge_to_shorten();
      const Vertex u = candidate(partner);
      if (v == u) continue;
      const double more =
          std::fabs(moved(v, u, slot_of_[v], slot_of_[u]) + moved(u, v, slot_of_[u], slot_of_[v]));
      excess_.settle(false);
      if (more > 0) sum += more, ++count;
    }
    return count > 0 ? sum / count : 0;
  }

  /// Tries one swap. Returns the change of the traffic (with the penalty), or 0 if the swap is
  /// rejected.
  double try_one(double temperature) {
    ++scans_;  // counts the trial itself, so that the search also ends without edges
    const auto [v, partner] = edge_to_shorten();
    const Vertex u = candidate(partner);
    if (v == u) return 0;
    const double more = change(v, u);
    const bool is_accepted = more <= 0 || (more < 30 * temperature &&
                                           random_.uniform() < portable_exp(-more / temperature));
    excess_.settle(is_accepted);
    if (!is_accepted) return 0;
    swap(v, u);
    return more;
  }

  void restore(const std::vector<Slot>& best) {
    slot_of_ = best;
    update();
    excess_.add_all(slot_of_);
  }

  /// Collects the slots to which a descent tries to move v. Visits several partners of v. For each
  /// partner, the candidates are the partner's slot and a few slots around that: those of the
  /// smallest group that has more than one slot and does not contain v.
  void gather_near(Vertex v) {
    near_.clear();
    const std::size_t degree = graph_.degree(v);
    const std::size_t partners =
        std::clamp(kPartitionTuning.descent_degrees / degree, kPartitionTuning.min_partners,
                   kPartitionTuning.max_partners);
    const std::size_t stride = (degree + partners - 1) / partners;
    const Slot own = slot_of_[v];
    for (std::size_t i = 0; i < degree; i += stride) {
      const Slot at = slot_of_[graph_.to[graph_.first[v] + i]];
      near_.push_back(at);
      const auto group = std::find_if(groups_.rbegin(), groups_.rend(), [&](const SlotGroups& g) {
        return g.last[at] - g.first[at] > 1 && g.first[at] != g.first[own];
      });
      if (group == groups_.rend()) continue;
      const Slot first = group->first[at], size = group->last[at] - first;
      const Slot step =
          (size + kPartitionTuning.slots_of_group - 1) / kPartitionTuning.slots_of_group;
      for (Slot s = at % step; s < size; s += step) near_.push_back(first + s);
    }
    std::sort(near_.begin(), near_.end());
    near_.erase(std::unique(near_.begin(), near_.end()), near_.end());
  }

  bool step_down(Vertex v, std::vector<std::uint8_t>& is_due) {
    gather_near(v);
    double best = -kRounding * total_;
    Vertex partner = v;
    for (const Slot s : near_) {
      const Vertex u = vertex_at_[s];
      if (u == v) continue;
      const double more = change(v, u);
      excess_.settle(false);
      if (more < best) best = more, partner = u;
    }
    if (partner == v) return false;
    change(v, partner);
    excess_.settle(true);
    swap(v, partner);
    for (const Vertex moved : {v, partner}) {
      is_due[moved] = 1;
      for (std::size_t e = graph_.first[moved]; e < graph_.first[moved + 1]; ++e)
        is_due[graph_.to[e]] = 1;
    }
    return true;
  }

  const RankProblem& problem_;
  const Graph& graph_;
  std::vector<Slot>& slot_of_;
  std::vector<Vertex> vertex_at_;                  // per slot
  std::vector<RankDistances::Position> position_;  // per slot
  std::vector<RankDistances::Position> where_;     // per vertex
  std::vector<Vertex> connected_;                  // vertices with edges
  std::vector<SlotGroups> groups_;                 // coarsest first
  std::vector<Slot> near_;
  Excess excess_;
  Random random_;
  const SwapEffort effort_;
  double scans_ = 0;
  double penalty_ = 0;  // penalty per byte over a limit
  double total_ = 0;    // traffic at the start
  double nearest_ = 0;  // smallest distance between two slots
};

}  // namespace

double traffic(const RankProblem& problem, std::span<const Slot> slot_of) {
  const Graph& graph = problem.graph;
  double twice = 0;
  for (Vertex v = 0; v < graph.num_vertices(); ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      twice += graph.affinity[e] *
               problem.distances(problem.slots[slot_of[v]], problem.slots[slot_of[graph.to[e]]]);
  return twice / 2;
}

void search_by_swaps(const RankProblem& problem, const TrafficLimits& limits,
                     const SwapEffort& effort, std::vector<Slot>& slot_of) {
  SwapSearch search(problem, limits, effort, slot_of);
  search.descend();
  search.anneal();
  search.descend();
}

}  // namespace poise
