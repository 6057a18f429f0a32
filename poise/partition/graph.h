// SPDX-License-Identifier: BSD-3-Clause
// A sparse graph of the affinities between tasks, and functions that contract or split it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/base/large_array.h"
#include "poise/partition/affinities.h"
#include "poise/workload/workload.h"

namespace poise::graphs {

using Vertex = std::uint32_t;

/// An undirected graph in compressed rows; each edge is in the rows of both its ends.
struct Graph {
  LargeArray<std::size_t> first{0};  // row v has the entries [first[v], first[v + 1])
  LargeArray<Vertex> to;
  Affinities affinity;         // per entry of `to`: bytes or messages in both directions
  std::vector<double> weight;  // per vertex

  Vertex num_vertices() const { return weight.size(); }
  std::size_t degree(Vertex v) const { return first[v + 1] - first[v]; }
};

/// The affinity of the edge between two vertices; 0 if there is no edge. O(degree of the vertex
/// with fewer edges).
double affinity_between(const Graph& graph, Vertex v, Vertex u);

enum class Affinity : std::uint8_t { bytes, messages };

/// One vertex per task, whose weight is the load of the task. The weight of an edge is what the two
/// tasks exchange: bytes, or the number of messages if all messages have 0 bytes. O(tasks +
/// messages).
Graph affinity_graph(const Workload& workload, Affinity affinity);

/// Contracts each group to one vertex and adds up weights and affinities. Edges in a group vanish.
Graph contract(const Graph& graph, std::span<const Vertex> group_of, Vertex num_groups);

/// Vertices sorted by group: group g has members[first[g]] to members[first[g + 1] - 1] in
/// ascending order; position[v] is the index of v in its group.
struct Groups {
  LargeArray<std::size_t> first;
  LargeArray<Vertex> members;
  LargeArray<Vertex> position;

  std::span<const Vertex> of(Vertex group) const {
    return {members.data() + first[group], first[group + 1] - first[group]};
  }
};
Groups arrange(std::span<const Vertex> group_of, Vertex num_groups);

/// The graph of one group's members, numbered by `position`. Edges to other groups are dropped.
Graph subgraph(const Graph& graph, const Groups& groups, Vertex group);

/// Appends vertices without edges until the graph has num_vertices vertices. They represent empty
/// tasks, so that every place can get a task.
void pad(Graph& graph, Vertex num_vertices, double weight);

}  // namespace poise::graphs
