// SPDX-License-Identifier: BSD-3-Clause
// One rank's tasks as a graph: where the receivers of their messages are, and tasks merged into
// clusters that stay together.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/distributed/merging.h"
#include "poise/distributed/own_tasks.h"
#include "poise/distributed/pieces.h"

namespace poise {

/// A task's weight is its share of an average place's load, and this much of an average task, so
/// that tasks without load do not all become one cluster.
inline constexpr double kWeightOfTask = 0.1;

/// What a place has on average.
struct AveragePlace {
  double load_s = 0;
  double tasks = 0;
};

class OwnGraph {
 public:
  /// Collective. Finds the receivers' ranks and indices. Throws Error if one does not exist, or, if
  /// the ranks of receivers were not given, if two tasks have the same id.
  OwnGraph(Communicator& ranks, const OwnTasks& own);

  /// Merges tasks along the heaviest messages within this rank and returns the clusters; background
  /// load is a further one, which is pinned.
  std::vector<PieceVertex> merge(double speed, const AveragePlace& average,
                                 const MergeLimits& limits);
  /// Per task, its cluster.
  std::vector<std::uint32_t>& cluster_of() { return cluster_of_; }

  /// The tasks of other ranks that receive messages from here.
  const std::vector<VertexName>& ghosts() const { return ghosts_; }

  /// The rank of the receiver of message i, given those of own tasks and of ghosts.
  std::uint32_t rank_of_receiver(std::size_t i, const std::vector<std::uint32_t>& own,
                                 const std::vector<std::uint32_t>& ghosts) const {
    return target_[i] < own.size() ? own[target_[i]] : ghosts[target_[i] - own.size()];
  }

  /// The messages that clusters send. Ghost g is in the cluster with the name ghost_cluster[g];
  /// cluster c of this rank is vertex first + c of rank `leader`. Takes 16 bytes per cluster.
  std::vector<PieceEdge> edges(VertexName first,
                               const std::vector<VertexName>& ghost_cluster) const;

 private:
  void find_receivers(Communicator& ranks);
  graphs::Graph affinity(double load_s, double tasks) const;

  const OwnTasks& own_;
  std::vector<std::uint32_t> target_;  // per message: own task, or number of own tasks plus ghost
  std::vector<VertexName> ghosts_;
  std::vector<std::uint32_t> cluster_of_;
};

}  // namespace poise
