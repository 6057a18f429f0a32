// SPDX-License-Identifier: BSD-3-Clause
// Graphs for tests: random graphs, and rings of cliques that any partitioner should find.
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/partition/graph.h"

namespace poise::graphs {

/// A random graph with half of all possible edges. Each edge has 1 to 100 bytes.
inline Graph drawn_graph(Vertex size, Random& random) {
  Workload workload;
  workload.tasks.resize(size, {.load_s = 1});
  for (Vertex a = 0; a < size; ++a)
    for (Vertex b = 0; b < a; ++b)
      if (random.below(2) == 0) workload.messages.push_back({a, b, 1, 1 + random.below(100)});
  return affinity_graph(workload, Affinity::bytes);
}

/// Randomly numbered cliques of `size` tasks each, in a ring with one light edge between
/// neighbouring cliques.
inline Graph cliques(Vertex count, Vertex size, Random& random, std::vector<Vertex>& clique_of) {
  Workload workload;
  workload.tasks.assign(count * size, {.load_s = 1});
  std::vector<Vertex> name(count * size);
  std::iota(name.begin(), name.end(), 0);
  for (std::size_t i = name.size(); i > 1; --i) std::swap(name[i - 1], name[random.below(i)]);
  clique_of.resize(name.size());
  for (Vertex a = 0; a < name.size(); ++a) {
    clique_of[name[a]] = a / size;
    for (Vertex b = a - a % size; b < a; ++b)
      workload.messages.push_back({name[a], name[b], 1, 50});
    if (a % size == 0)
      workload.messages.push_back(
          {name[a], name[(a + size) % static_cast<Vertex>(name.size())], 1, 1});
  }
  return affinity_graph(workload, Affinity::bytes);
}

}  // namespace poise::graphs
