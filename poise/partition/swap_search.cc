// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/swap_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "poise/base/random.h"
#include "poise/partition/slot_costs.h"
#include "poise/partition/traffic_excess.h"
#include "poise/partition/tuning.h"

namespace poise {

namespace {

using graphs::Graph;
using graphs::Vertex;

/// The start temperatures of annealing.
constexpr std::array kTemperatures = {kPartitionTuning.hot_start, kPartitionTuning.warm_start,
                                      kPartitionTuning.mild_start};
/// Two sums count as equal if their relative difference is below this value.
constexpr double kRounding = 1e-12;

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
    excess_.start_from(slot_of);
    find_groups();
    tabulate();
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
    const double share = costs_ ? 1 : std::min(1.0, effort_.large_edges / edges);
    double budget = std::min(effort_.scans_per_edge * edges, effort_.max_scans * share);
    for (const double temperature : kTemperatures) {
      const bool is_last = temperature == kTemperatures.back();
      const double scans = is_last ? budget : budget / 2;
      if (!is_last && scans < temperature * kPartitionTuning.hot_scans * edges) continue;
      cool_down(temperature * mean, scans);
      budget -= scans;
    }
  }

  /// Makes passes over the vertices. In a pass, each vertex exchanges its slot for the best slot
  /// near its partners if that lowers the cost. Ends after a pass without an exchange, or earlier.
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

  /// Keeps tables of costs, if the machine has classes of slots and the tables are small enough.
  void tabulate() {
    const std::size_t most = kPartitionTuning.max_costs / slot_of_.size();
    if (excess_.is_on() && problem_.distances.num_nodes() > most) return;
    for (const SlotGroups& groups : groups_) {
      std::optional<SlotClasses> classes = classes_by(groups, most);
      if (!classes) continue;
      classes_ = &groups;
      costs_.emplace(graph_, *std::move(classes), slot_of_);
      if (excess_.is_on()) excess_.tabulate(slot_of_);
      return;
    }
  }

  /// Returns the groups of a level as classes; nothing if there are more than `most`, or if the
  /// slots of a group differ in their distances.
  std::optional<SlotClasses> classes_by(const SlotGroups& groups, std::size_t most) const {
    SlotClasses classes;
    std::vector<Slot> firsts;
    for (Slot s = 0; s < slot_of_.size(); ++s) {
      if (groups.first[s] == s) firsts.push_back(s);
      classes.class_of.push_back(firsts.size() - 1);
    }
    if (firsts.size() > most) return std::nullopt;
    classes.size = firsts.size();
    const auto between = [&](Slot s, SlotClass c) {
      const bool is_other = s != firsts[c] || groups.last[s] - s == 1;
      return distance(s, is_other ? firsts[c] : s + 1);
    };
    for (const Slot first : firsts)
      for (SlotClass c = 0; c < classes.size; ++c) classes.distances.push_back(between(first, c));
    for (Slot s = 0; s < slot_of_.size(); ++s)
      for (SlotClass c = 0; c < classes.size; ++c)
        if (between(s, c) != classes.distance(classes.class_of[s], c)) return std::nullopt;
    return classes;
  }

  /// Returns by how much the traffic increases if two vertices exchange their slots. If limits are
  /// set, the increase of the penalty for exceeding them is added.
  double change(Vertex v, Vertex u) {
    const Swap swap = effect_of(v, u);
    if (!excess_.is_on()) return swap.more;
    return swap.more + penalty_ * excess_.change(v, where_[v].node, u, where_[u].node, swap.inside);
  }

  /// The effect of a swap: the increase of the traffic and, if limits are set, the increase of the
  /// bytes that stay inside each of the two nodes.
  struct Swap {
    double more = 0;
    InsideChange inside;
  };
  Swap effect_of(Vertex v, Vertex u) {
    if (costs_) {
      ++scans_;
      const double between = graphs::affinity_between(graph_, v, u);
      Swap swap{costs_->change(v, u, between), {}};
      if (excess_.is_on()) swap.inside = excess_.inside(v, u, between);
      return swap;
    }
    const Swap one = moved(v, u), other = moved(u, v);
    return {one.more + other.more,
            {one.inside.here + other.inside.there, one.inside.there + other.inside.here}};
  }

  /// Of the effect of exchanging the slots of v and u, returns the part that comes from the edges
  /// of v. Edges between v and u are left out, because the exchange does not change their lengths.
  Swap moved(Vertex v, Vertex u) {
    const RankDistances::Position before = where_[v], after = where_[u];
    Swap move;
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const Vertex w = graph_.to[e];
      if (w == u) continue;
      const RankDistances::Position at = where_[w];
      move.more +=
          graph_.affinity[e] * (problem_.distances(after, at) - problem_.distances(before, at));
      if (!excess_.is_on()) continue;
      if (at.node == before.node) move.inside.here -= graph_.affinity[e];
      if (at.node == after.node) move.inside.there += graph_.affinity[e];
    }
    scans_ += graph_.degree(v);
    return move;
  }

  void swap(Vertex v, Vertex u) {
    if (excess_.is_on())
      excess_.exchange(v, where_[v].node, u, where_[u].node, effect_of(v, u).inside);
    if (costs_) scans_ += kPartitionTuning.scans_of_update * costs_->exchange(v, u);
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
  /// Usually this is a vertex on a slot near that of `partner`, preferably one whose own neighbours
  /// are elsewhere, or a vertex a few edges away from `partner` in the graph. Rarely, it is any
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
      const double more = std::fabs(effect_of(v, u).more);
      if (more > 0) sum += more, ++count;
    }
    return count > 0 ? sum / count : 0;
  }

  /// Tries one swap, or several if there is a table of costs. Returns the change of the traffic
  /// (with the penalty), or 0 if no swap is accepted. A swap is accepted with the probability
  /// e^(-change/temperature).
  double try_one(double temperature) {
    ++scans_;  // a trial counts as a scan, so the search ends even if there are no edges
    const auto [v, partner] = edge_to_shorten();
    const Vertex u = candidate(partner);
    if (v == u) return 0;
    const double most = -temperature * portable_log(1 - random_.uniform());
    if (costs_) return try_class(v, slot_of_[u], most);
    const double more = change(v, u);
    if (more > most) return 0;
    swap(v, u);
    return more;
  }

  /// Tries to swap v with the vertices in the class of slot `start`: goes through the slots of the
  /// class from `start` on, then from the first slot up to `start`, and makes the first swap that
  /// increases the traffic (with the penalty) by at most `most`. Returns this change, or 0 if there
  /// is no such swap.
  double try_class(Vertex v, Slot start, double most) {
    scans_ += kPartitionTuning.scans_of_trial;
    const SlotClass from = costs_->at(v), to = costs_->class_at(start);
    if (from == to) return 0;
    double least = most - costs_->moved(v, to);
    if (excess_.is_on())
      least += penalty_ * excess_.removable(where_[v].node, position_[start].node);
    const Slot first = classes_->first[start], last = classes_->last[start];
    for (Slot s = start;;) {
      scans_ += kPartitionTuning.scans_of_lookup;
      const Vertex u = vertex_at_[s];
      if (costs_->moved(u, from) <= least) {
        const double more = change(v, u);
        if (more <= most) {
          swap(v, u);
          return more;
        }
      }
      if (++s == last) s = first;
      if (s == start) return 0;
    }
  }

  void restore(const std::vector<Slot>& best) {
    slot_of_ = best;
    update();
    if (costs_) costs_->start_from(slot_of_);
    excess_.start_from(slot_of_);
  }

  /// Collects the slots to which a descent tries to move v. For each of several partners of v,
  /// these are the partner's slot and a few slots of one group: the smallest group with several
  /// slots that contains the partner but not v.
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
      if (more < best) best = more, partner = u;
    }
    if (partner == v) return false;
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
  TrafficExcess excess_;
  std::optional<SlotCosts> costs_;
  const SlotGroups* classes_ = nullptr;  // the groups of slots that are the columns of costs_
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
