// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/own_graph.h"

#include <algorithm>
#include <utility>

#include "poise/distributed/id_table.h"
#include "poise/distributed/rank_directory.h"

namespace poise {

namespace {

/// Finds the index of a task of this rank by its id. If the ids are consecutive, no hash table is
/// needed.
class OwnIds {
 public:
  explicit OwnIds(std::span<const std::uint64_t> ids) : ids_(ids) {
    bool is_consecutive = true;
    for (std::size_t t = 0; t < ids.size() && is_consecutive; ++t)
      is_consecutive = ids[t] - ids[0] == t;
    if (is_consecutive) return;
    table_ = IdTable(ids.size());
    for (std::size_t t = 0; t < ids.size(); ++t)
      if (table_.insert(ids[t]) != t)
        fail("two tasks have the id {}; ids must be unique over all ranks", ids[t]);
  }

  std::uint32_t find(std::uint64_t id) const {
    if (table_.size() > 0) return table_.find(id);
    return !ids_.empty() && id - ids_[0] < ids_.size() ? id - ids_[0] : IdTable::kNone;
  }

 private:
  std::span<const std::uint64_t> ids_;
  IdTable table_;
};

}  // namespace

OwnGraph::OwnGraph(Communicator& ranks, const OwnTasks& own) : own_(own), target_(own.to.size()) {
  find_receivers(ranks);
}

void OwnGraph::find_receivers(Communicator& ranks) {
  const OwnIds own_ids(own_.ids);
  IdTable ghosts;
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> at;
  for (std::size_t i = 0; i < own_.to.size(); ++i) {
    std::uint32_t number = own_ids.find(own_.to[i]);
    if (number == IdTable::kNone) {
      const std::uint32_t ghost = ghosts.insert(own_.to[i]);
      if (ghost == ids.size()) {
        ids.push_back(own_.to[i]);
        if (!own_.to_rank.empty()) at.push_back(own_.to_rank[i]);
      }
      number = own_.num_tasks() + ghost;
    }
    target_[i] = number;
  }
  ghosts = IdTable();
  if (ranks.max(std::uint64_t{own_.to_rank.empty() && !own_.to.empty()}) != 0)
    at = ranks_of_tasks(ranks, own_.ids, ids);
  Mail<std::uint64_t> questions;
  for (std::size_t g = 0; g < ids.size(); ++g) {
    if (at[g] == kNoRank)
      fail("a task lists neighbour {}, but no rank has a task with that id", ids[g]);
    questions[at[g]].push_back(ids[g]);
  }
  Mail<std::uint32_t> answers;
  for (const auto& [rank, asked] : ranks.exchange(questions))
    for (const std::uint64_t id : asked) answers[rank].push_back(own_ids.find(id));
  answers = ranks.exchange(answers);
  std::map<std::uint32_t, std::size_t> next;
  for (std::size_t g = 0; g < ids.size(); ++g) {
    const std::uint32_t index = items_from(answers, at[g])[next[at[g]]++];
    if (index == IdTable::kNone)
      fail("a task lists neighbour {} on rank {}, but that rank has no such task", ids[g], at[g]);
    ghosts_.push_back({at[g], index});
  }
}

/// This graph stores each message as an edge of its sender only, whereas other graphs store it at
/// both ends. One end suffices for merging, which matches a task with one of its receivers.
graphs::Graph OwnGraph::affinity(double load_s, double tasks) const {
  graphs::Graph graph;
  const std::uint32_t size = own_.num_tasks();
  graph.first.reserve(size + std::size_t{1});
  graph.weight.reserve(size);
  std::size_t own_entries = 0;
  for (const std::uint32_t target : target_) own_entries += target < size;
  graph.to.reserve(own_entries);
  graph.affinity.reserve(own_entries);
  for (std::uint32_t t = 0; t < size; ++t) {
    for (std::size_t i = own_.first.empty() ? 0 : own_.first[t];
         i < (own_.first.empty() ? 0 : own_.first[t + 1]); ++i) {
      if (target_[i] >= size || target_[i] == t) continue;
      graph.to.push_back(target_[i]);
      graph.affinity.push_back(own_.bytes_of_message(i) + own_.count(i));
    }
    graph.first.push_back(graph.to.size());
    graph.weight.push_back((load_s > 0 ? own_.load_s[t] / load_s : 0) +
                           distributed_tuning::kWeightOfTask / tasks);
  }
  return graph;
}

std::vector<PieceVertex> OwnGraph::merge(double speed, const AveragePlace& average,
                                         const MergeLimits& limits) {
  graphs::Graph graph = affinity(average.load_s, std::max(1.0, average.tasks));
  const std::vector<double> weight = graph.weight;
  std::vector<std::uint32_t> is_pinned(own_.pinned.begin(), own_.pinned.end());
  for (std::uint32_t& pinned : is_pinned) pinned = pinned != 0;
  Merging merging = merge_heavy_edges(std::move(graph), std::move(is_pinned), limits);
  std::vector<PieceVertex> clusters(merging.num_groups);
  for (std::uint32_t t = 0; t < own_.num_tasks(); ++t) {
    PieceVertex& cluster = clusters[merging.group_of[t]];
    cluster.load_s += own_.load_s[t];
    cluster.weight += weight[t];
    ++cluster.num_tasks;
    if (!own_.bytes.empty()) cluster.bytes += own_.bytes[t];
    if (!own_.pinned.empty() && own_.pinned[t] != 0) cluster.is_pinned = 1;
  }
  if (own_.background_s > 0)
    clusters.push_back(
        {.load_s = own_.background_s * speed,
         .weight = average.load_s > 0 ? own_.background_s * speed / average.load_s : 0,
         .is_pinned = 1});
  cluster_of_ = std::move(merging.group_of);
  return clusters;
}

std::vector<PieceEdge> OwnGraph::edges(VertexName first,
                                       const std::vector<VertexName>& ghost_cluster) const {
  std::vector<VertexName> others = ghost_cluster;
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  std::vector<std::uint32_t> column_of_ghost;
  for (const VertexName& name : ghost_cluster) column_of_ghost.push_back(index_of(others, name));
  std::uint32_t num_clusters = 0;
  for (const std::uint32_t cluster : cluster_of_)
    num_clusters = std::max(num_clusters, cluster + 1);
  const graphs::Groups tasks = graphs::arrange(cluster_of_, num_clusters);
  std::vector<PieceEdge> edges;
  // `edges` is a sparse matrix with a row per cluster of this rank and a column per receiving
  // cluster. Rows are filled one after another. entry[column] is 0 if this column has no edge yet,
  // otherwise 1 plus the index in `edges` of the edge that was added to this column last.
  std::vector<std::size_t> entry(num_clusters + others.size(), 0);
  for (std::uint32_t c = 0; c < num_clusters && !own_.first.empty(); ++c) {
    const std::size_t row = edges.size();
    for (const std::uint32_t t : tasks.of(c))
      for (std::size_t i = own_.first[t]; i < own_.first[t + 1]; ++i) {
        const bool is_own = target_[i] < own_.num_tasks();
        const std::uint32_t column =
            is_own ? cluster_of_[target_[i]]
                   : num_clusters + column_of_ghost[target_[i] - own_.num_tasks()];
        if (column == c) continue;
        if (entry[column] <= row) {
          const VertexName other =
              is_own ? VertexName{first.rank, first.index + column} : others[column - num_clusters];
          edges.push_back({.own = first.index + c, .other = other});
          entry[column] = edges.size();
        }
        PieceEdge& edge = edges[entry[column] - 1];
        edge.count += own_.count(i);
        edge.bytes += own_.bytes_of_message(i);
      }
  }
  return edges;
}

}  // namespace poise
