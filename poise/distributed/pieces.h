// SPDX-License-Identifier: BSD-3-Clause
// Graphs that are distributed over leaders. Each leader holds a piece, which consists of vertices
// and their edges.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "poise/distributed/communicator.h"

namespace poise {

/// Names a vertex in the piece of some rank: the rank, and the index of the vertex in that piece.
struct VertexName {
  std::uint32_t rank = 0, index = 0;
  friend auto operator<=>(const VertexName&, const VertexName&) = default;
};

/// A task, or several tasks that stay together.
struct PieceVertex {
  double load_s = 0;
  double weight = 0;  // load and, a little, number of tasks, relative to those of the average place
  std::uint64_t bytes = 0;
  std::uint32_t child = 0;  // number of the child, among those of the leader, in whose part it is
  std::uint32_t is_pinned = 0;
};

/// All messages from one vertex to another.
struct PieceEdge {
  std::uint32_t own = 0;  // index of the end that is in the piece
  VertexName other;
  std::uint64_t count = 0, bytes = 0;
};

/// The part of a level's graph that one leader holds.
struct Piece {
  std::vector<PieceVertex> vertices;
  std::vector<PieceEdge> out;  // messages that the piece's vertices send
  /// Messages that the piece's vertices receive from other leaders' vertices.
  std::vector<PieceEdge> in;
  /// For each vertex, the index (in the parent's piece) of the vertex into which it is merged.
  std::vector<std::uint32_t> merged;
};

/// Collective. Looks up entries in tables of other ranks: returns, for each name, entry name.index
/// of the `table` of rank name.rank. Names may repeat.
std::vector<std::uint32_t> ask_owners(Communicator& ranks, const std::vector<VertexName>& names,
                                      const std::vector<std::uint32_t>& table);

/// Returns the member `other` of all edges, without duplicates and in ascending order.
std::vector<VertexName> names_of(const std::vector<PieceEdge>& edges);
/// Returns the index of a name in `names`, which must be sorted and contain it.
std::uint32_t index_of(const std::vector<VertexName>& names, VertexName name);

/// Sorts the edges and merges those with the same two ends by adding their messages.
void merge_parallel(std::vector<PieceEdge>& edges);

/// Keeps the `max_edges` most expensive edges. The messages of the dropped edges are distributed
/// among the kept ones, so that the total stays nearly the same. `rank` is that of the vertices at
/// which the edges start.
void keep_heaviest(std::vector<PieceEdge>& edges, std::uint32_t rank, std::size_t max_edges,
                   double message_s, double byte_s);

}  // namespace poise
