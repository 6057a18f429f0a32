// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/network.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "poise/partition/bisection.h"
#include "poise/strategies/tuning.h"

namespace poise::tree_match {

namespace {

constexpr Vertex kNone = std::numeric_limits<Vertex>::max();

using Coordinates = std::vector<std::vector<std::uint32_t>>;

/// Returns the dimension of the torus or mesh in which the coordinates of the slots (nodes) have
/// the largest number of distinct values.
std::size_t longest_dimension(const std::vector<Vertex>& slots, const Coordinates& coordinates) {
  std::size_t longest = 0, most = 0;
  for (std::size_t d = 0; d < coordinates[0].size(); ++d) {
    std::set<std::uint32_t> values;
    for (const Vertex slot : slots) values.insert(coordinates[slot][d]);
    if (values.size() <= most) continue;
    most = values.size();
    longest = d;
  }
  return longest;
}

/// Sorts slots (nodes) such that those in the first half are close together and far from those in
/// the second half.
void sort_into_halves(std::vector<Vertex>& slots, const Distance& distance,
                      const Coordinates& coordinates) {
  std::vector<std::pair<double, Vertex>> order;
  if (!coordinates.empty()) {
    const std::size_t d = longest_dimension(slots, coordinates);
    for (const Vertex slot : slots) order.push_back({coordinates[slot][d], slot});
  } else {
    const auto farthest = [&](Vertex from) {
      return *std::max_element(slots.begin(), slots.end(), [&](Vertex a, Vertex b) {
        return distance(from, a) < distance(from, b);
      });
    };
    const Vertex one = farthest(slots.front()), other = farthest(one);
    for (const Vertex slot : slots)
      order.push_back({distance(one, slot) - distance(other, slot), slot});
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = order[i].second;
}

class Halving {
 public:
  Halving(const Graph& graph, const Distance& distance, const Coordinates& coordinates)
      : graph_(graph),
        distance_(distance),
        coordinates_(coordinates),
        slot_of_(graph.num_vertices(), 0),
        position_(graph.num_vertices(), kNone) {}

  std::vector<Vertex> map() {
    Region all{std::vector<Vertex>(graph_.num_vertices()), {}, 0};
    std::iota(all.vertices.begin(), all.vertices.end(), 0);
    all.slots = all.vertices;
    std::deque<Region> open{std::move(all)};  // breadth first, so that regions shrink evenly
    for (; !open.empty(); open.pop_front())
      if (open.front().slots.size() > 1) split(open.front(), open);
    return std::move(slot_of_);
  }

 private:
  struct Region {
    std::vector<Vertex> vertices, slots;
    Vertex centre;  // the central slot, at which the region's vertices are assumed to be
  };

  void split(Region& region, std::deque<Region>& open) {
    sort_into_halves(region.slots, distance_, coordinates_);
    const std::ptrdiff_t middle = (region.slots.size() + 1) / 2;
    Region left{{}, {region.slots.begin(), region.slots.begin() + middle}, 0};
    Region right{{}, {region.slots.begin() + middle, region.slots.end()}, 0};
    for (Region* half : {&left, &right}) half->centre = centre_of(half->slots);
    share_out(region.vertices, left, right);
    for (Region* half : {&left, &right}) {
      for (const Vertex v : half->vertices) slot_of_[v] = half->centre;
      open.push_back(std::move(*half));
    }
  }

  /// Returns the slot with the smallest sum of distances to a sample of the slots.
  Vertex centre_of(const std::vector<Vertex>& slots) const {
    const std::size_t stride = 1 + slots.size() / kStrategiesTuning.slots_tried;
    Vertex centre = slots[0];
    double least = std::numeric_limits<double>::infinity();
    for (const Vertex slot : slots) {
      double sum = 0;
      for (std::size_t i = 0; i < slots.size(); i += stride) sum += distance_(slot, slots[i]);
      if (sum >= least) continue;
      least = sum;
      centre = slot;
    }
    return centre;
  }

  void share_out(const std::vector<Vertex>& vertices, Region& left, Region& right) {
    const Graph graph = with_terminals(vertices, left.centre, right.centre);
    const std::size_t size = vertices.size();
    Split split{std::vector<Side>(size + 2, Side::either), static_cast<double>(left.slots.size()),
                0, kStrategiesTuning.attempts_of_nodes};
    split.fixed[size] = Side::left;
    split.fixed[size + 1] = Side::right;
    const std::vector<Side> sides = bisect(graph, split);
    for (std::size_t i = 0; i < size; ++i)
      (sides[i] == Side::left ? left : right).vertices.push_back(vertices[i]);
    for (; left.vertices.size() > left.slots.size(); left.vertices.pop_back())
      right.vertices.push_back(left.vertices.back());
    for (; right.vertices.size() > right.slots.size(); right.vertices.pop_back())
      left.vertices.push_back(right.vertices.back());
  }

  /// Returns the graph that is to be cut in two: the given vertices, plus two fixed vertices that
  /// represent the two halves of the slots. Cutting an edge between two of the given vertices costs
  /// the distance between the halves. An edge from a given vertex v to a vertex outside the region
  /// draws v to the half that is closer to the outer vertex: if v gets into the other half, this
  /// costs the difference between the distances from the outer vertex to the two halves.
  Graph with_terminals(const std::vector<Vertex>& vertices, Vertex left, Vertex right) {
    const Vertex size = vertices.size();
    for (Vertex i = 0; i < size; ++i) position_[vertices[i]] = i;
    const double apart = distance_(left, right);
    std::vector<double> pull(size, 0);  // per vertex: a value above 0 draws it to the left half
    Graph graph;
    graph.weight.assign(size, 1);
    graph.weight.resize(size + 2, 0);
    const auto add = [&](Vertex to, double affinity) {
      graph.to.push_back(to);
      graph.affinity.push_back(affinity);
    };
    for (Vertex i = 0; i < size; ++i) {
      const Vertex v = vertices[i];
      for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
        const Vertex other = graph_.to[e], there = slot_of_[other];
        if (position_[other] != kNone)
          add(position_[other], graph_.affinity[e] * apart);
        else
          pull[i] += graph_.affinity[e] * (distance_(right, there) - distance_(left, there));
      }
      if (pull[i] != 0) add(pull[i] > 0 ? size : size + 1, std::fabs(pull[i]));
      graph.first.push_back(graph.to.size());
    }
    for (const bool is_left : {true, false}) {
      for (Vertex i = 0; i < size; ++i)
        if (is_left ? pull[i] > 0 : pull[i] < 0) add(i, std::fabs(pull[i]));
      graph.first.push_back(graph.to.size());
    }
    for (const Vertex v : vertices) position_[v] = kNone;
    return graph;
  }

  const Graph& graph_;
  const Distance& distance_;
  const Coordinates& coordinates_;
  std::vector<Vertex> slot_of_;
  std::vector<Vertex> position_;  // index in the current region; kNone outside it
};

/// Lists for each slot the nearest slots, nearest first. The first entry is the slot itself.
std::vector<std::vector<Vertex>> near_slots(Vertex size, const Distance& distance) {
  std::vector<std::vector<Vertex>> near(size);
  std::vector<std::pair<double, Vertex>> by_distance(size);
  for (Vertex slot = 0; slot < size; ++slot) {
    near[slot] = {slot};
    if (size > kStrategiesTuning.max_for_near_slots) continue;
    for (Vertex other = 0; other < size; ++other)
      by_distance[other] = {other == slot ? -1 : distance(slot, other), other};
    const std::size_t kept = std::min<std::size_t>(size, kStrategiesTuning.near_slots + 1);
    std::partial_sort(by_distance.begin(), by_distance.begin() + kept, by_distance.end());
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
    for (Vertex v = 0; v < graph_.num_vertices() && asked_ < kStrategiesTuning.max_distances; ++v)
      has_swapped |= visit(v);
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

  double gain_of_swap(Vertex v, Vertex u, double cost_here) {
    asked_ += graph_.degree(v) + 2 * graph_.degree(u);
    const double gain_of_v = cost_here - cost_at(v, slot_of_[u], u);
    const double gain_of_u = cost_at(u, slot_of_[u], kNone) - cost_at(u, slot_of_[v], v);
    return gain_of_v + gain_of_u;
  }

  /// The cost of v's edges after v has moved to `slot` in exchange for the vertex `partner`. The
  /// exchange does not change the distance between v and its partner.
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
  std::vector<Vertex> at_;  // per slot, the vertex that is mapped to it
  std::vector<std::vector<Vertex>> near_;
  std::size_t asked_ = 0;
  std::vector<Vertex> seen_by_;  // per slot, the last vertex for which it was tried
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

Distance tabulated(std::uint32_t size, const Distance& distance) {
  std::vector<float> table(std::size_t{size} * size);
  for (std::uint32_t a = 0; a < size; ++a)
    for (std::uint32_t b = 0; b < size; ++b)
      table[std::size_t{a} * size + b] = static_cast<float>(distance(a, b));
  return [size, kept = std::make_shared<const std::vector<float>>(std::move(table))](
             std::uint32_t a, std::uint32_t b) -> double {
    return (*kept)[std::size_t{a} * size + b];
  };
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

std::vector<std::vector<std::uint32_t>> node_coordinates(const Machine& machine) {
  const Network& network = machine.network();
  if (network.shape != Network::Shape::torus && network.shape != Network::Shape::mesh) return {};
  Coordinates coordinates;
  for (NodeId node = 0; node < machine.num_nodes(); ++node) {
    auto& of_node = coordinates.emplace_back(network.dims.size());
    std::uint32_t router = network.router_of(node);
    for (std::size_t d = network.dims.size(); d-- > 0; router /= network.dims[d])
      of_node[d] = router % network.dims[d];
  }
  return coordinates;
}

std::vector<Vertex> map_by_halving(const Graph& graph, const Distance& distance,
                                   const std::vector<std::vector<std::uint32_t>>& coordinates) {
  return Halving(graph, distance, coordinates).map();
}

void swap_closer(const Graph& graph, std::span<const std::uint32_t> kind_of_slot,
                 const Distance& distance, std::span<Vertex> slot_of) {
  Swapping swapping(graph, kind_of_slot, distance, slot_of);
  for (int pass = 0; pass < kStrategiesTuning.swap_passes && swapping.pass(); ++pass) {
  }
}

}  // namespace poise::tree_match
