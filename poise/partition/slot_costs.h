// SPDX-License-Identifier: BSD-3-Clause
// The costs of vertices in classes of slots, kept up to date while vertices exchange their slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/partition/graph.h"
#include "poise/partition/swap_search.h"

namespace poise {

using SlotClass = std::uint32_t;

/// Classes of slots. All slots of a class are equally far from any other slot, so a vertex costs
/// the same on each slot of the class.
struct SlotClasses {
  std::vector<SlotClass> class_of;  // per slot
  SlotClass size = 0;
  /// The distance between two classes, at [from * size + to]. The diagonal holds the distance
  /// between different slots of one class.
  std::vector<double> distances;

  double distance(SlotClass from, SlotClass to) const {
    return distances[std::size_t{from} * size + to];
  }
};

/// A table of costs, with a row per vertex and a column per class: the sum over the vertex's edges
/// of affinity times distance, if the vertex is in that class and its partners stay where they are.
/// The effect of a swap is thus known in constant time; the edges are visited only when a swap is
/// made (Taillard, "Robust taboo search for the quadratic assignment problem", 1991).
class SlotCosts {
 public:
  SlotCosts(const graphs::Graph& graph, SlotClasses classes, std::span<const Slot> slot_of);

  void start_from(std::span<const Slot> slot_of);

  SlotClass at(graphs::Vertex v) const { return at_[v]; }
  SlotClass class_at(Slot slot) const { return classes_.class_of[slot]; }
  double cost(graphs::Vertex v, SlotClass c) const {
    return costs_[std::size_t{v} * classes_.size + c];
  }
  /// By how much the cost of a vertex increases if it alone moves to another class.
  double moved(graphs::Vertex v, SlotClass to) const { return cost(v, to) - cost(v, at_[v]); }

  /// By how much the sum over all edges of affinity times distance increases if v and u, which have
  /// the affinity `between`, exchange their slots. moved() assumes that the other end of each edge
  /// stays, which is wrong for the edge between v and u; the last summand corrects this.
  double change(graphs::Vertex v, graphs::Vertex u, double between) const {
    const SlotClass a = at_[v], b = at_[u];
    return moved(v, b) + moved(u, a) +
           between *
               (2 * classes_.distance(a, b) - classes_.distance(a, a) - classes_.distance(b, b));
  }

  /// Exchanges the slots of two vertices. Returns the number of table entries visited.
  std::size_t exchange(graphs::Vertex v, graphs::Vertex u);

 private:
  const graphs::Graph& graph_;
  const SlotClasses classes_;
  std::vector<SlotClass> at_;      // per vertex
  std::vector<double> costs_;      // the table, with index vertex * classes + class
  std::vector<double> lengthens_;  // per class c: by how much exchange() lengthens edges to c
};

}  // namespace poise
