// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/rank_sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "poise/base/random.h"
#include "poise/partition/multilevel_bisection.h"
#include "poise/partition/tuning.h"

namespace poise {

namespace {

using namespace graphs;

/// A set of slots, and the vertices that will be on these slots.
struct Region {
  std::vector<Slot> slots;
  std::vector<Vertex> members;
};

class Halving {
 public:
  Halving(const RankProblem& problem, unsigned attempts, bool nodes_are_alike)
      : problem_(problem),
        attempts_(attempts),
        nodes_are_alike_(nodes_are_alike),
        region_of_(problem.graph.num_vertices(), 0),
        position_(problem.graph.num_vertices(), 0),
        slot_of_(problem.graph.num_vertices(), 0) {
    Region whole{std::vector<Slot>(problem.slots.size()),
                 std::vector<Vertex>(problem.graph.num_vertices())};
    std::iota(whole.slots.begin(), whole.slots.end(), 0);
    std::iota(whole.members.begin(), whole.members.end(), 0);
    regions_.push_back(std::move(whole));
  }

  /// Halves all regions of slots, then all resulting regions, and so on, until each region has one
  /// slot. This breadth-first order keeps all regions about equally large. So, when a region is
  /// halved, the locations of its vertices' partners in other regions are known about equally
  /// precisely.
  std::vector<Slot> run() {
    for (std::size_t r = 0; r < regions_.size(); ++r) {
      if (regions_[r].slots.size() == 1) {
        slot_of_[regions_[r].members[0]] = regions_[r].slots[0];
        continue;
      }
      halve(r);
    }
    return std::move(slot_of_);
  }

 private:
  void halve(std::size_t r) {
    std::array<Region, 2> halves;
    const std::size_t left = order_slots(regions_[r].slots);
    const std::vector<Slot>& slots = regions_[r].slots;
    const auto middle = slots.begin() + left;
    halves[0].slots.assign(slots.begin(), middle);
    halves[1].slots.assign(middle, slots.end());

    const std::vector<Vertex>& members = regions_[r].members;
    for (Vertex i = 0; i < members.size(); ++i) position_[members[i]] = i;
    const Graph graph = inside(r);
    Split split{std::vector<Side>(members.size(), Side::either), static_cast<double>(left), 0,
                attempts_};
    split.pull_left = pulls(r, halves);
    std::vector<Side> sides = multilevel_bisect(graph, split);
    make_exact(graph, split, sides);
    for (Vertex i = 0; i < members.size(); ++i)
      halves[sides[i] == Side::right].members.push_back(members[i]);
    regions_[r] = {};
    for (Region& half : halves) {
      for (const Vertex v : half.members) region_of_[v] = regions_.size();
      regions_.push_back(std::move(half));
    }
  }

  /// Sorts the slots of a region so that those of the first half come first, and returns the number
  /// of slots in the first half.
  std::size_t order_slots(std::vector<Slot>& slots) const {
    const Machine& machine = problem_.machine;
    const auto place = [&](Slot s) { return problem_.slots[s]; };
    if (!nodes_are_alike_ && has_several_nodes(slots) && !machine.network().coordinates.empty())
      if (const std::size_t left = order_by_side(slots)) return left;
    for (std::size_t l = 0; l < machine.levels().size(); ++l) {
      const auto group = [&](Slot s) { return machine.group_of(l, place(s)); };
      if (group(slots.front()) == group(slots.back())) continue;
      return group_border(slots, group);
    }
    return slots.size() / 2;
  }

  bool has_several_nodes(const std::vector<Slot>& slots) const {
    const auto node = [&](Slot s) { return problem_.distances.node_of(problem_.slots[s]); };
    return node(slots.front()) != node(slots.back());
  }

  /// Returns how many slots are in the first half of the groups; group(s) is the group of slot s.
  /// The slots of a group are consecutive.
  template <typename GroupOf>
  static std::size_t group_border(const std::vector<Slot>& slots, const GroupOf& group) {
    std::vector<std::size_t> borders;
    for (std::size_t i = 1; i < slots.size(); ++i)
      if (group(slots[i]) != group(slots[i - 1])) borders.push_back(i);
    return borders[borders.size() / 2];
  }

  /// Sorts the slots along the dimension of the torus or mesh in which they extend farthest, and
  /// returns the number of slots in the first half. Returns 0 if all slots are on one router.
  std::size_t order_by_side(std::vector<Slot>& slots) const {
    const Network& network = problem_.machine.network();
    const std::size_t dims = network.dims.size();
    const auto coordinate = [&](Slot s, std::size_t d) {
      const NodeId node = problem_.distances.node_of(problem_.slots[s]);
      return network.coordinates[std::size_t{node} * dims + d];
    };
    std::size_t longest = 0;
    std::uint32_t extent = 0;
    for (std::size_t d = 0; d < dims; ++d) {
      const auto [low, high] = std::minmax_element(slots.begin(), slots.end(), [&](Slot a, Slot b) {
        return coordinate(a, d) < coordinate(b, d);
      });
      const std::uint32_t side = coordinate(*high, d) - coordinate(*low, d);
      if (side > extent) extent = side, longest = d;
    }
    if (extent == 0) return 0;
    std::stable_sort(slots.begin(), slots.end(), [&](Slot a, Slot b) {
      return coordinate(a, longest) < coordinate(b, longest);
    });
    return group_border(slots, [&](Slot s) { return coordinate(s, longest); });
  }

  Graph inside(std::size_t r) const {
    Graph part;
    for (const Vertex v : regions_[r].members) {
      part.weight.push_back(1);
      for (std::size_t e = problem_.graph.first[v]; e < problem_.graph.first[v + 1]; ++e) {
        const Vertex other = problem_.graph.to[e];
        if (region_of_[other] != r) continue;
        part.to.push_back(position_[other]);
        part.affinity.push_back(problem_.graph.affinity[e]);
      }
      part.first.push_back(part.to.size());
    }
    return part;
  }

  /// For each vertex of region r, how strongly its partners in other regions pull it to the left
  /// half: the sum over these partners of affinity times (distance to the right half - distance to
  /// the left half).
  std::vector<double> pulls(std::size_t r, const std::array<Region, 2>& halves) const {
    std::vector<double> pull(regions_[r].members.size(), 0);
    if (nodes_are_alike_ && has_several_nodes(regions_[r].slots)) return pull;
    for (Vertex i = 0; i < pull.size(); ++i) {
      const Vertex v = regions_[r].members[i];
      for (std::size_t e = problem_.graph.first[v]; e < problem_.graph.first[v + 1]; ++e) {
        const Vertex other = problem_.graph.to[e];
        if (region_of_[other] == r) continue;
        const Slot at = stand_in(other);
        pull[i] += problem_.graph.affinity[e] * (distance(halves[1], at) - distance(halves[0], at));
      }
    }
    return pull;
  }

  /// Returns the slot at which the vertex is assumed to be when distances are estimated: one of the
  /// slots of its region. Different vertices of a region may get different slots.
  Slot stand_in(Vertex v) const {
    const Region& region = regions_[region_of_[v]];
    return region.slots[mix(v) % region.slots.size()];
  }

  double distance(const Region& half, Slot to) const {
    const std::size_t samples = std::min(kPartitionTuning.region_samples, half.slots.size());
    double sum = 0;
    for (std::size_t i = 0; i < samples; ++i)
      sum += problem_.distances(
          problem_.slots[half.slots[(2 * i + 1) * half.slots.size() / (2 * samples)]],
          problem_.slots[to]);
    return sum / samples;
  }

  /// Moves vertices between the sides, first those whose moves cost least, until the left side has
  /// exactly the requested number of vertices.
  static void make_exact(const Graph& graph, const Split& split, std::vector<Side>& sides) {
    const auto wanted = static_cast<std::ptrdiff_t>(split.left_weight);
    auto have = std::count(sides.begin(), sides.end(), Side::left);
    while (have != wanted) {
      const Side from = have > wanted ? Side::left : Side::right;
      Vertex best = graph.num_vertices();
      double best_gain = 0;
      for (Vertex v = 0; v < graph.num_vertices(); ++v) {
        if (sides[v] != from) continue;
        double gain = from == Side::right ? split.pull_left[v] : -split.pull_left[v];
        for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
          gain += sides[graph.to[e]] == from ? -graph.affinity[e] : graph.affinity[e];
        if (best == graph.num_vertices() || gain > best_gain) best = v, best_gain = gain;
      }
      sides[best] = from == Side::left ? Side::right : Side::left;
      have += from == Side::left ? -1 : 1;
    }
  }

  const RankProblem& problem_;
  const unsigned attempts_;
  const bool nodes_are_alike_;
  // Regions in the order in which they are halved; a region is emptied when it has been halved.
  std::vector<Region> regions_;
  std::vector<std::size_t> region_of_;  // per vertex
  std::vector<Vertex> position_;        // per vertex of the region being halved: its index there
  std::vector<Slot> slot_of_;
};

}  // namespace

std::vector<Slot> cut_into_slots(const RankProblem& problem, unsigned attempts) {
  return Halving(problem, attempts, false).run();
}

std::vector<Slot> cut_into_nodes(const RankProblem& problem, unsigned attempts) {
  return Halving(problem, attempts, true).run();
}

}  // namespace poise
