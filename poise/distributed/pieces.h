// SPDX-License-Identifier: BSD-3-Clause
// Graphs that are distributed over leaders: vertices, edges between them, and what they merge into.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "poise/distributed/communicator.h"

namespace poise {

/// A vertex of another rank's piece: the rank, and its index there.
struct VertexName {
  std::uint32_t rank = 0, index = 0;
  friend auto operator<=>(const VertexName&, const VertexName&) = default;
};

/// A task, or tasks that stay together.
struct PieceVertex {
  double load_s = 0;
  double weight = 0;  // share of the average place: of its load, and a little of its tasks
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

/// What one leader holds of the graph of a level.
struct Piece {
  std::vector<PieceVertex> vertices;
  std::vector<PieceEdge> out;  // messages that its vertices send
  std::vector<PieceEdge> in;   // and those that they receive from vertices of other leaders
  /// Per vertex, the index of the vertex of the parent's piece that it is merged into.
  std::vector<std::uint32_t> merged;
};

/// Collective. For each name, the value in `table` at its rank; names may repeat.
std::vector<std::uint32_t> ask_owners(Communicator& ranks, const std::vector<VertexName>& names,
                                      const std::vector<std::uint32_t>& table);

/// The different names of `other`, in ascending order.
std::vector<VertexName> names_of(const std::vector<PieceEdge>& edges);
/// The index of a name that is in such a list.
std::uint32_t index_of(const std::vector<VertexName>& names, VertexName name);

/// Adds up edges with the same ends. Their order becomes ascending.
void merge_parallel(std::vector<PieceEdge>& edges);

/// Keeps the `max_edges` edges that cost most; each carries a share of the messages of those
/// dropped, so that their sum stays nearly the same.
void keep_heaviest(std::vector<PieceEdge>& edges, std::size_t max_edges, double message_s,
                   double byte_s);

}  // namespace poise
