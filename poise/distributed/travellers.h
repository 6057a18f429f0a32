// SPDX-License-Identifier: BSD-3-Clause
// Tasks that the first of two V-cycles has assigned to other ranks. They do not migrate yet; only
// their descriptions are sent, so that the second cycle can start from this assignment.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/distributed/communicator.h"
#include "poise/distributed/own_graph.h"
#include "poise/distributed/own_tasks.h"

namespace poise {

/// Descriptions of the tasks that are assigned to this rank, with their home ranks, which own the
/// tasks until they migrate. A task from another rank counts as 0 bytes: even if it is assigned
/// to yet another rank, it migrates only once, directly from its owner rank.
class Travellers {
 public:
  /// Collective. Sends the descriptions of the tasks in `own` to their targets (one rank per task).
  /// `graph` must belong to `own`. If `own` is the view() of another Travellers object, `before`
  /// must point to that object; otherwise `before` must be null.
  static Travellers moved(Communicator& ranks, const OwnTasks& own, const OwnGraph& graph,
                          const std::vector<std::uint32_t>& targets, const Travellers* before);

  OwnTasks view() const;
  /// Collective. `targets` lists, for each task of view(), the rank to which it is now assigned.
  /// Reports this assignment to the rank that owns the task. Returns, for each task that this rank
  /// owns, the rank to which it is assigned, in the order of OwnTasks.
  std::vector<std::uint32_t> told_home(Communicator& ranks,
                                       const std::vector<std::uint32_t>& targets,
                                       std::size_t num_own) const;

 private:
  struct Home {
    std::uint32_t rank = 0, index = 0;
    std::uint64_t bytes = 0;  // bytes sent if the task leaves its owner rank
  };

  std::vector<Home> homes_;
  std::vector<std::uint64_t> ids_, bytes_, first_{0}, to_, counts_, message_bytes_;
  std::vector<double> load_s_;
  std::vector<std::uint8_t> pinned_;
  std::vector<std::uint32_t> to_rank_;
  double background_s_ = 0;
};

}  // namespace poise
