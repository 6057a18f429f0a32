// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/slot_costs.h"

#include <algorithm>
#include <utility>

namespace poise {

using graphs::Vertex;

SlotCosts::SlotCosts(const graphs::Graph& graph, SlotClasses classes, std::span<const Slot> slot_of)
    : graph_(graph),
      classes_(std::move(classes)),
      at_(graph.num_vertices()),
      lengthens_(classes_.size) {
  start_from(slot_of);
}

void SlotCosts::start_from(std::span<const Slot> slot_of) {
  for (Vertex v = 0; v < at_.size(); ++v) at_[v] = classes_.class_of[slot_of[v]];
  costs_.assign(at_.size() * classes_.size, 0);
  for (Vertex v = 0; v < at_.size(); ++v) {
    double* row = costs_.data() + std::size_t{v} * classes_.size;
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e)
      for (SlotClass c = 0; c < classes_.size; ++c)
        row[c] += graph_.affinity[e] * classes_.distance(at_[graph_.to[e]], c);
  }
}

std::size_t SlotCosts::exchange(Vertex v, Vertex u) {
  const SlotClass a = at_[v], b = at_[u];
  if (a == b) return 0;
  SlotClass first = classes_.size, last = 0;
  for (SlotClass c = 0; c < classes_.size; ++c) {
    lengthens_[c] = classes_.distance(b, c) - classes_.distance(a, c);
    if (lengthens_[c] == 0) continue;
    first = std::min(first, c);
    last = c + 1;
  }
  if (first >= last) return 0;
  for (const auto& [moved, sign] : {std::pair(v, 1.0), std::pair(u, -1.0)})
    for (std::size_t e = graph_.first[moved]; e < graph_.first[moved + 1]; ++e) {
      double* row = costs_.data() + std::size_t{graph_.to[e]} * classes_.size;
      const double affinity = sign * graph_.affinity[e];
      for (SlotClass c = first; c < last; ++c) row[c] += affinity * lengthens_[c];
    }
  std::swap(at_[v], at_[u]);
  return (graph_.degree(v) + graph_.degree(u)) * (last - first);
}

}  // namespace poise
