// SPDX-License-Identifier: BSD-3-Clause
// The tasks of one rank as a graph: finds the receivers of their messages, and merges tasks into
// clusters that stay together.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/distributed/merging.h"
#include "poise/distributed/own_tasks.h"
#include "poise/distributed/pieces.h"
#include "poise/distributed/tuning.h"

namespace poise {

/// Average load and average number of tasks per place (rank).
struct AveragePlace {
  double load_s = 0;
  double tasks = 0;
};

class OwnGraph {
 public:
  /// Collective. Finds the ranks and indices of the receivers of all messages. Throws Error if a
  /// receiver does not exist, or if two tasks have the same id (checked only if the ranks of
  /// receivers are not given).
  OwnGraph(Communicator& ranks, const OwnTasks& own);

  /// Merges tasks of this rank along the heaviest messages and returns the clusters. Background
  /// load becomes one more cluster, which is pinned.
  std::vector<PieceVertex> merge(double speed, const AveragePlace& average,
                                 const MergeLimits& limits);
  /// For each task of this rank, the index of the cluster that contains it.
  std::vector<std::uint32_t>& cluster_of() { return cluster_of_; }

  /// The tasks of other ranks (ghosts) that receive messages from tasks of this rank.
  const std::vector<VertexName>& ghosts() const { return ghosts_; }

  /// Returns the rank on which the receiver of message i will be. own[t] is the rank chosen for
  /// this rank's task t; ghosts[g] is the rank chosen for ghost g (a receiving task owned by
  /// another rank).
  std::uint32_t rank_of_receiver(std::size_t i, const std::vector<std::uint32_t>& own,
                                 const std::vector<std::uint32_t>& ghosts) const {
    return target_[i] < own.size() ? own[target_[i]] : ghosts[target_[i] - own.size()];
  }

  /// Returns the messages that clusters of this rank send to other clusters. A cluster is named by
  /// the leader that holds it and by its index in that leader's part of the graph. `first` is the
  /// name of this rank's first cluster; the other clusters of this rank have the following indices.
  /// ghost_cluster[g] is the name of the cluster that contains ghost g, a task of another rank.
  /// Takes 16 bytes per cluster.
  std::vector<PieceEdge> edges(VertexName first,
                               const std::vector<VertexName>& ghost_cluster) const;

 private:
  void find_receivers(Communicator& ranks);
  graphs::Graph affinity(double load_s, double tasks) const;

  const OwnTasks& own_;
  // For each message: the index of the receiving task if this rank owns it. Otherwise the number of
  // own tasks plus the index of the receiver in ghosts_ (tasks of other ranks).
  std::vector<std::uint32_t> target_;
  std::vector<VertexName> ghosts_;
  std::vector<std::uint32_t> cluster_of_;
};

}  // namespace poise
