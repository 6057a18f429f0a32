#include "poise/strategies/treematch_network.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <tuple>

#include "poise/strategies/treematch_bisection.h"

namespace poise::tree_match {

namespace {

constexpr Vertex kNone = std::numeric_limits<Vertex>::max();
constexpr Vertex kMostForNearSlots = 4096;  // the lists need all distances once
constexpr std::size_t kNearSlots = 12;
constexpr int kSwapPasses = 8;

/// The halves of some slots: nearer to one of two far ones, or to the other.
void halve(std::vector<Vertex>& slots, const Distance& distance) {
  const auto farthest = [&](Vertex from) {
    return *std::max_element(slots.begin(), slots.end(), [&](Vertex a, Vertex b) {
      return distance(from, a) < distance(from, b);
    });
  };
  const Vertex one = farthest(slots.front()), other = farthest(one);
  std::vector<std::pair<double, Vertex>> lean;
  for (const Vertex slot : slots)
    lean.push_back({distance(one, slot) - distance(other, slot), slot});
  std::sort(lean.begin(), lean.end());
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = lean[i].second;
}

class Halving {
 public:
  Halving(const Graph& graph, const Distance& distance)
      : graph_(graph), distance_(distance), slot_of_(graph.num_vertices(), 0) {}

  std::vector<Vertex> map() {
    Region all{std::vector<Vertex>(graph_.num_vertices()), {}};
    std::iota(all.vertices.begin(), all.vertices.end(), 0);
    all.slots = all.vertices;
    std::deque<Region> open{std::move(all)};  // breadth first: all regions shrink together
    for (; !open.empty(); open.pop_front())
      if (open.front().slots.size() > 1) split(open.front(), open);
    return std::move(slot_of_);
  }

 private:
  struct Region {
    std::vector<Vertex> vertices, slots;
  };

  void split(Region& region, std::deque<Region>& open) {
    halve(region.slots, distance_);
    const auto middle = static_cast<std::ptrdiff_t>(region.slots.size() / 2);
    Region left{{}, {region.slots.begin(), region.slots.begin() + middle}};
    Region right{{}, {region.slots.begin() + middle, region.slots.end()}};
    std::tie(left.vertices, right.vertices) = halves(region.vertices, left.slots.size());
    if (left.slots.size() == right.slots.size()) {
      const double straight = settle(left) + settle(right);
      std::swap(left.slots, right.slots);
      if (settle(left) + settle(right) >= straight) std::swap(left.slots, right.slots);
    }
    settle(left);
    settle(right);
    open.push_back(std::move(left));
    open.push_back(std::move(right));
  }

  /// Puts a region's vertices at one of its slots for the time being; returns what its edges cost.
  double settle(const Region& region) {
    const Vertex centre = region.slots[region.slots.size() / 2];
    for (const Vertex v : region.vertices) slot_of_[v] = centre;
    double cost = 0;
    for (const Vertex v : region.vertices)
      for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e)
        cost += graph_.affinity[e] * distance_(centre, slot_of_[graph_.to[e]]);
    return cost;
  }

  std::pair<std::vector<Vertex>, std::vector<Vertex>> halves(const std::vector<Vertex>& vertices,
                                                             std::size_t wanted) const {
    std::vector<Vertex> group_of(graph_.num_vertices(), 1);
    for (const Vertex v : vertices) group_of[v] = 0;
    Graph graph = subgraph(graph_, arrange(group_of, 2), 0);
    graph.weight.assign(vertices.size(), 1);
    const auto sides = bisect(
        graph, {std::vector<Side>(vertices.size(), Side::either), static_cast<double>(wanted), 0});
    std::pair<std::vector<Vertex>, std::vector<Vertex>> result;
    for (std::size_t v = 0; v < vertices.size(); ++v)
      (sides[v] == Side::left ? result.first : result.second).push_back(vertices[v]);
    even_out(result.first, result.second, wanted);
    return result;
  }

  static void even_out(std::vector<Vertex>& left, std::vector<Vertex>& right, std::size_t wanted) {
    for (; left.size() > wanted; left.pop_back()) right.push_back(left.back());
    for (; left.size() < wanted; right.pop_back()) left.push_back(right.back());
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
  }

  const Graph& graph_;
  const Distance& distance_;
  std::vector<Vertex> slot_of_;
};

/// Per slot the nearest others, itself first.
std::vector<std::vector<Vertex>> near_slots(Vertex size, const Distance& distance) {
  std::vector<std::vector<Vertex>> near(size);
  std::vector<std::pair<double, Vertex>> by_distance(size);
  for (Vertex slot = 0; slot < size; ++slot) {
    near[slot] = {slot};
    if (size > kMostForNearSlots) continue;
    for (Vertex other = 0; other < size; ++other)
      by_distance[other] = {other == slot ? -1 : distance(slot, other), other};
    const std::size_t kept = std::min<std::size_t>(size, kNearSlots + 1);
    std::partial_sort(by_distance.begin(), by_distance.begin() + static_cast<std::ptrdiff_t>(kept),
                      by_distance.end());
    for (std::size_t i = 1; i < kept; ++i) near[slot].push_back(by_distance[i].second);
  }
  return near;
}

class Swapping {
 public:
  Swapping(const Graph& graph, std::span<const std::uint32_t> kind_of_slot,
           const Distance& distance, std::span<Vertex> slot_of)
      : graph_(graph),
        kind_(kind_of_slot),
        distance_(distance),
        slot_of_(slot_of),
        at_(slot_of.size()),
        near_(near_slots(graph.num_vertices(), distance)),
        seen_by_(slot_of.size(), kNone) {
    for (Vertex v = 0; v < slot_of.size(); ++v) at_[slot_of[v]] = v;
  }

  bool pass() {
    bool has_swapped = false;
    std::fill(seen_by_.begin(), seen_by_.end(), kNone);
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) has_swapped |= visit(v);
    return has_swapped;
  }

 private:
  bool visit(Vertex v) {
    const double cost_here = cost_at(v, slot_of_[v], kNone);
    double best_gain = 1e-9 * cost_here;
    Vertex best = kNone;
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e)
      for (const Vertex slot : near_[slot_of_[graph_.to[e]]]) {
        if (seen_by_[slot] == v || slot == slot_of_[v] || kind_[slot] != kind_[slot_of_[v]])
          continue;
        seen_by_[slot] = v;
        const double gain = gain_of_swap(v, at_[slot], cost_here);
        if (gain <= best_gain) continue;
        best_gain = gain;
        best = at_[slot];
      }
    if (best == kNone) return false;
    std::swap(slot_of_[v], slot_of_[best]);
    std::swap(at_[slot_of_[v]], at_[slot_of_[best]]);
    return true;
  }

  double gain_of_swap(Vertex v, Vertex u, double cost_here) const {
    const double gain_of_v = cost_here - cost_at(v, slot_of_[u], u);
    const double gain_of_u = cost_at(u, slot_of_[u], kNone) - cost_at(u, slot_of_[v], v);
    return gain_of_v + gain_of_u;
  }

  /// What v's edges would cost at a slot; a partner it swaps with stays as far away as it is.
  double cost_at(Vertex v, Vertex slot, Vertex partner) const {
    double cost = 0;
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const Vertex other = graph_.to[e];
      const Vertex there = other == partner ? slot_of_[v] : slot_of_[other];
      cost += graph_.affinity[e] * distance_(slot, there);
    }
    return cost;
  }

  const Graph& graph_;
  std::span<const std::uint32_t> kind_;
  const Distance& distance_;
  std::span<Vertex> slot_of_;
  std::vector<Vertex> at_;  // per slot its vertex
  std::vector<std::vector<Vertex>> near_;
  std::vector<Vertex> seen_by_;  // per slot the last vertex that tried it
};

}  // namespace

Distance node_distance(const Machine& machine) {
  const Network& network = machine.network();
  if (network.shape == Network::Shape::matrix)
    return [&network](NodeId a, NodeId b) {
      return a == b ? 0 : (network.latency_factor(a, b) + network.latency_factor(b, a)) / 2;
    };
  return [&network](NodeId a, NodeId b) { return network.hops(a, b); };
}

bool is_uniform(const Machine& machine) {
  const Network& network = machine.network();
  return machine.num_nodes() <= 2 ||
         (network.shape == Network::Shape::tree && network.tiers.empty());
}

double hop_affinity(const Graph& graph, std::span<const Vertex> slot_of, const Distance& distance) {
  double twice = 0;
  for (Vertex v = 0; v < graph.num_vertices(); ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      twice += graph.affinity[e] * distance(slot_of[v], slot_of[graph.to[e]]);
  return twice / 2;
}

std::vector<Vertex> map_by_halving(const Graph& graph, const Distance& distance) {
  return Halving(graph, distance).map();
}

void swap_closer(const Graph& graph, std::span<const std::uint32_t> kind_of_slot,
                 const Distance& distance, std::span<Vertex> slot_of) {
  Swapping swapping(graph, kind_of_slot, distance, slot_of);
  for (int pass = 0; pass < kSwapPasses && swapping.pass(); ++pass) {
  }
}

}  // namespace poise::tree_match
