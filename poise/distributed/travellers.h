// SPDX-License-Identifier: BSD-3-Clause
// Tasks that have changed to other ranks on paper, so that a further decision starts from there.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/distributed/communicator.h"
#include "poise/distributed/own_graph.h"
#include "poise/distributed/own_tasks.h"

namespace poise {

/// The description of tasks that are on this rank now, and where they came from. A task away from
/// home has no bytes: it migrates anyway.
class Travellers {
 public:
  /// Collective. From the ranks of `own` to their targets, one per task. `graph` is that of `own`,
  /// which may be the view of travellers that become these.
  static Travellers moved(Communicator& ranks, const OwnTasks& own, const OwnGraph& graph,
                          const std::vector<std::uint32_t>& targets, const Travellers* before);

  OwnTasks view() const;
  /// Collective. Tells the rank `targets[t]` of each task here to the task's home; returns them in
  /// the order of the tasks at home.
  std::vector<std::uint32_t> told_home(Communicator& ranks,
                                       const std::vector<std::uint32_t>& targets,
                                       std::size_t num_own) const;

 private:
  struct Home {
    std::uint32_t rank = 0, index = 0;
    std::uint64_t bytes = 0;  // if it migrates
  };

  std::vector<Home> homes_;
  std::vector<std::uint64_t> ids_, bytes_, first_{0}, to_, counts_, message_bytes_;
  std::vector<double> load_s_;
  std::vector<std::uint8_t> pinned_;
  std::vector<std::uint32_t> to_rank_;
  double background_s_ = 0;
};

}  // namespace poise
