// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace poise::graphs {

namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

/// Writes the rows of a graph, one after another, and merges entries of a row that have the same
/// neighbour by adding up their affinities. To find such entries, it keeps the index of the latest
/// entry of each neighbour.
class RowWriter {
 public:
  RowWriter(Graph& graph, Vertex num_columns) : graph_(graph), entry_of_(num_columns, kNowhere) {}

  /// Starts a row whose first entry gets the index `end`. All entries before that index belong to
  /// complete rows.
  void start_row(std::size_t end) { row_ = end_ = end; }

  void add(Vertex to, double affinity) {
    const std::size_t entry = entry_of_[to];
    if (entry != kNowhere && entry >= row_) {
      graph_.affinity.add(entry, affinity);
      return;
    }
    entry_of_[to] = end_;
    graph_.to[end_] = to;
    graph_.affinity.set(end_++, affinity);
  }

  std::size_t end() const { return end_; }

 private:
  Graph& graph_;
  LargeArray<std::size_t> entry_of_;
  std::size_t row_ = 0, end_ = 0;
};

/// Stores two entries per message, one in each end's row. The row of v starts at first[v].
Graph all_entries(const Workload& workload, bool counts) {
  Graph graph;
  graph.first.assign(workload.tasks.size() + 2, 0);
  for (const Message& message : workload.messages) {
    if (message.from == message.to) continue;
    ++graph.first[message.from + 2];
    ++graph.first[message.to + 2];
  }
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  graph.to.resize(graph.first.back());
  graph.affinity.resize(graph.first.back());
  for (const Message& message : workload.messages) {
    if (message.from == message.to) continue;
    const double value = counts ? message.count : message.bytes;
    for (const auto& [v, to] : {std::pair(message.from, message.to), {message.to, message.from}}) {
      const std::size_t entry = graph.first[v + 1]++;
      graph.to[entry] = to;
      graph.affinity.set(entry, value);
    }
  }
  graph.first.pop_back();
  return graph;
}

}  // namespace

double affinity_between(const Graph& graph, Vertex v, Vertex u) {
  if (graph.degree(v) > graph.degree(u)) std::swap(v, u);
  for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
    if (graph.to[e] == u) return graph.affinity[e];
  return 0;
}

Graph affinity_graph(const Workload& workload, Affinity affinity) {
  const bool has_bytes = std::any_of(workload.messages.begin(), workload.messages.end(),
                                     [](const Message& m) { return m.bytes > 0; });
  Graph graph = all_entries(workload, affinity == Affinity::messages || !has_bytes);
  const Vertex size = workload.num_tasks();
  RowWriter row(graph, size);
  for (Vertex v = 0; v < size; ++v) {
    const std::size_t begin = graph.first[v], end = graph.first[v + 1];
    graph.first[v] = row.end();
    row.start_row(row.end());
    for (std::size_t e = begin; e < end; ++e) row.add(graph.to[e], graph.affinity[e]);
  }
  graph.first[size] = row.end();
  graph.to.resize(row.end());
  graph.to.shrink_to_fit();
  graph.affinity.resize(row.end());
  graph.affinity.shrink_to_fit();
  graph.weight.reserve(size);
  for (const Task& task : workload.tasks) graph.weight.push_back(task.load_s);
  return graph;
}

Groups arrange(std::span<const Vertex> group_of, Vertex num_groups) {
  Groups groups;
  groups.first.assign(num_groups + 1, 0);
  groups.position.resize(group_of.size());
  groups.members.resize(group_of.size());
  for (std::size_t v = 0; v < group_of.size(); ++v)
    groups.position[v] = groups.first[group_of[v] + 1]++;
  std::partial_sum(groups.first.begin(), groups.first.end(), groups.first.begin());
  for (std::size_t v = 0; v < group_of.size(); ++v)
    groups.members[groups.first[group_of[v]] + groups.position[v]] = v;
  return groups;
}

Graph contract(const Graph& graph, std::span<const Vertex> group_of, Vertex num_groups) {
  const Groups groups = arrange(group_of, num_groups);
  Graph coarse;
  coarse.first.reserve(num_groups + 1);
  coarse.weight.assign(num_groups, 0);
  // Reserved memory costs nothing until it is written, so reserving too much does no harm.
  coarse.to.reserve(graph.to.size());
  coarse.affinity.reserve(graph.to.size());
  RowWriter row(coarse, num_groups);
  for (Vertex g = 0; g < num_groups; ++g) {
    std::size_t most = row.end();
    for (const Vertex v : groups.of(g)) most += graph.degree(v);
    coarse.to.resize(most);
    coarse.affinity.resize(most);
    row.start_row(row.end());
    for (const Vertex v : groups.of(g)) {
      coarse.weight[g] += graph.weight[v];
      for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
        if (const Vertex other = group_of[graph.to[e]]; other != g)
          row.add(other, graph.affinity[e]);
    }
    coarse.first.push_back(row.end());
  }
  coarse.to.resize(row.end());
  coarse.to.shrink_to_fit();
  coarse.affinity.resize(row.end());
  coarse.affinity.shrink_to_fit();
  return coarse;
}

Graph subgraph(const Graph& graph, const Groups& groups, Vertex group) {
  const std::span<const Vertex> members = groups.of(group);
  Graph part;
  part.first.reserve(members.size() + 1);
  part.weight.reserve(members.size());
  std::size_t most = 0;  // upper bound: also counts edges to other groups, which are dropped
  for (const Vertex v : members) most += graph.degree(v);
  part.to.reserve(most);
  part.affinity.reserve(most);
  for (const Vertex v : members) {
    part.weight.push_back(graph.weight[v]);
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
      const Vertex other = graph.to[e], at = groups.position[other];
      if (at >= members.size() || members[at] != other) continue;
      part.to.push_back(at);
      part.affinity.push_back(graph.affinity[e]);
    }
    part.first.push_back(part.to.size());
  }
  return part;
}

void pad(Graph& graph, Vertex num_vertices, double weight) {
  graph.weight.resize(num_vertices, weight);
  graph.first.resize(std::size_t{num_vertices} + 1, graph.to.size());
}

}  // namespace poise::graphs
