// SPDX-License-Identifier: BSD-3-Clause
// Distances between places by table lookup, for searches that look up millions of distances.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/map_cost.h"

namespace poise {

/// The distance between two places: the mean of distance_between() in both directions. On up to
/// 1,024 nodes, the distance of each pair of nodes is stored (4 MB). If all nodes are alike, the
/// distance of each pair of places inside a node is stored, too. All other distances are computed
/// from the machine, to which the object keeps a reference.
class RankDistances {
 public:
  RankDistances(const Machine& machine, Distance distance);

  /// A place, identified by its node and its index inside that node.
  struct Position {
    NodeId node = 0;
    PlaceId inside = 0;  // number of the place, counted from the first place of its node
  };
  Position position_of(PlaceId place) const {
    const NodeId node = node_of_[place];
    return {node, place - first_place_[node]};
  }

  double operator()(Position a, Position b) const {
    if (a.node == b.node) {
      if (a.inside == b.inside) return 0;
      if (inside_.empty()) return exact(place_of(a), place_of(b));
      return inside_[std::size_t{a.inside} * size_ + b.inside];
    }
    if (between_.empty()) return exact(place_of(a), place_of(b));
    return between_[std::size_t{a.node} * num_nodes_ + b.node];
  }
  double operator()(PlaceId a, PlaceId b) const { return (*this)(position_of(a), position_of(b)); }

  NodeId node_of(PlaceId place) const { return node_of_[place]; }
  NodeId num_nodes() const { return num_nodes_; }

 private:
  double exact(PlaceId a, PlaceId b) const {
    return (distance_between(machine_, distance_, a, b) +
            distance_between(machine_, distance_, b, a)) /
           2;
  }
  PlaceId place_of(Position position) const {
    return first_place_[position.node] + position.inside;
  }
  bool nodes_are_alike() const;

  const Machine& machine_;
  Distance distance_;
  NodeId num_nodes_;
  PlaceId size_;                      // number of places of the first node
  std::vector<NodeId> node_of_;       // per place
  std::vector<PlaceId> first_place_;  // per node
  // Single precision halves the memory and suffices, because searches only compare sums.
  std::vector<float> between_;  // distances between nodes, at [from * nodes + to]
  std::vector<float> inside_;   // distances inside a node, at [from * places of a node + to]
};

}  // namespace poise
