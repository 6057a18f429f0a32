// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/pieces.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "poise/base/random.h"

namespace poise {

std::vector<std::uint32_t> ask_owners(Communicator& ranks, const std::vector<VertexName>& names,
                                      const std::vector<std::uint32_t>& table) {
  Mail<std::uint32_t> questions;
  for (const VertexName& name : names) questions[name.rank].push_back(name.index);
  Mail<std::uint32_t> asked = ranks.exchange(questions);
  for (auto& [rank, indices] : asked)
    for (std::uint32_t& index : indices) {
      if (index >= table.size())
        fail("rank {} asks this rank for vertex {}, but this rank has only {} vertices", rank,
             index, table.size());
      index = table[index];
    }
  const Mail<std::uint32_t> answers = ranks.exchange(asked);
  std::map<std::uint32_t, std::size_t> next;
  std::vector<std::uint32_t> values;
  values.reserve(names.size());
  for (const VertexName& name : names)
    values.push_back(items_from(answers, name.rank)[next[name.rank]++]);
  return values;
}

std::vector<VertexName> names_of(const std::vector<PieceEdge>& edges) {
  std::vector<VertexName> names;
  names.reserve(edges.size());
  for (const PieceEdge& edge : edges) names.push_back(edge.other);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::uint32_t index_of(const std::vector<VertexName>& names, VertexName name) {
  return std::lower_bound(names.begin(), names.end(), name) - names.begin();
}

void merge_parallel(std::vector<PieceEdge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const PieceEdge& a, const PieceEdge& b) {
    return std::tie(a.own, a.other) < std::tie(b.own, b.other);
  });
  std::size_t kept = 0;
  for (const PieceEdge& edge : edges) {
    if (kept > 0 && edges[kept - 1].own == edge.own && edges[kept - 1].other == edge.other) {
      edges[kept - 1].count += edge.count;
      edges[kept - 1].bytes += edge.bytes;
    } else {
      edges[kept++] = edge;
    }
  }
  edges.resize(kept);
}

void keep_heaviest(std::vector<PieceEdge>& edges, std::uint32_t rank, std::size_t max_edges,
                   double message_s, double byte_s) {
  if (edges.size() <= max_edges || max_edges == 0) return;
  const auto cost_s = [&](const PieceEdge& edge) {
    return edge.count * message_s + edge.bytes * byte_s;
  };
  // Sorts edges by cost, because only the most expensive ones are kept. Edges of equal cost are
  // sorted by a hash. If they were sorted by vertex, the last vertices would lose all their edges,
  // and moving these vertices would seem to cost nothing. The hash of an edge is the sum of the
  // hashes of its two vertices, so both directions of an edge have the same hash.
  const auto hash = [](VertexName name) {
    return mix(std::uint64_t{name.rank} << 32 | name.index);
  };
  const auto lot = [&](const PieceEdge& edge) { return hash({rank, edge.own}) + hash(edge.other); };
  std::sort(edges.begin(), edges.end(), [&](const PieceEdge& a, const PieceEdge& b) {
    const double a_s = cost_s(a), b_s = cost_s(b);
    if (a_s != b_s) return a_s > b_s;
    const std::uint64_t of_a = lot(a), of_b = lot(b);
    return of_a != of_b ? of_a < of_b : std::tie(a.own, a.other) < std::tie(b.own, b.other);
  });
  double all_s = 0, kept_s = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    all_s += cost_s(edges[i]);
    if (i < max_edges) kept_s += cost_s(edges[i]);
  }
  edges.resize(max_edges);
  const double share = kept_s > 0 ? all_s / kept_s : 1;
  for (PieceEdge& edge : edges) {
    edge.count = std::llround(share * edge.count);
    edge.bytes = std::llround(share * edge.bytes);
  }
}

}  // namespace poise
