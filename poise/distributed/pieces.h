// SPDX-License-Identifier: BSD-3-Clause
// Graphs that are distributed over leaders (ranks that decide for groups of ranks). Each leader
// holds a piece of the graph, which consists of vertices and their edges.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "poise/distributed/communicator.h"

namespace poise {

/// Identifies a vertex by the rank whose piece contains it and by its index in that piece.
struct VertexName {
  std::uint32_t rank = 0, index = 0;
  friend auto operator<=>(const VertexName&, const VertexName&) = default;
};

/// A task, or several tasks that stay together.
struct PieceVertex {
  double load_s = 0;
  double weight = 0;  // load / average load of a place + a small term for the number of tasks
  std::uint64_t bytes = 0;
  std::uint32_t num_tasks = 0;
  std::uint32_t child = 0;  // index of the leader's child group that contains the vertex
  std::uint32_t is_pinned = 0;
};

/// All messages from one vertex to another.
struct PieceEdge {
  std::uint32_t own = 0;  // index, in this piece, of one of the edge's two vertices
  VertexName other;
  std::uint64_t count = 0, bytes = 0;
};

/// The part of a level's graph that one leader (the rank that decides for a group) holds.
struct Piece {
  std::vector<PieceVertex> vertices;
  std::vector<PieceEdge> out;  // messages that the piece's vertices send
  /// Messages that the piece's vertices receive from other leaders' vertices.
  std::vector<PieceEdge> in;
  /// For each vertex, the index of the vertex into which it is merged, in the piece that the leader
  /// of the parent group holds.
  std::vector<std::uint32_t> merged;
};

/// Collective. Returns for each name the value of table[name.index] on rank name.rank. Names may
/// repeat.
std::vector<std::uint32_t> ask_owners(Communicator& ranks, const std::vector<VertexName>& names,
                                      const std::vector<std::uint32_t>& table);

/// Returns the member `other` of every edge, in ascending order and without duplicates.
std::vector<VertexName> names_of(const std::vector<PieceEdge>& edges);
/// Returns the index of `name` in `names`. The list must be sorted and contain the name.
std::uint32_t index_of(const std::vector<VertexName>& names, VertexName name);

/// Sorts the edges and merges those with the same two ends by adding their messages.
void merge_parallel(std::vector<PieceEdge>& edges);

/// Keeps the `max_edges` most expensive edges. The messages of the dropped edges are distributed
/// among the kept ones, so that the total stays nearly the same. `rank` is the rank that holds the
/// vertices at which the edges start.
void keep_heaviest(std::vector<PieceEdge>& edges, std::uint32_t rank, std::size_t max_edges,
                   double message_s, double byte_s);

}  // namespace poise
