// SPDX-License-Identifier: BSD-3-Clause
// The history of a balancer's decisions, which a checkpoint carries from one run to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtimes/charm/statistics.h"

#include "poise/workload/workload.h"

namespace poise::charm {

struct Past {
  std::uint64_t num_decisions = 0;
  std::vector<ObjectName> names = {};             // objects with recorded loads, in order of tasks
  std::vector<std::vector<double>> loads_s = {};  // loads at each recorded decision, oldest first

  /// Sorts the recorded loads in the order of `objects`. In a restart, an object's id may change in
  /// all but its lowest num_index_bits bits. If objects were created or destroyed, clears the
  /// history.
  void follow(const std::vector<ObjectName>& objects, int num_index_bits = 64);

  /// Calls follow(). Returns the recorded loads of `objects`, one list per decision, each padded
  /// with zeros to num_tasks loads.
  std::vector<std::vector<double>> loads_of(const std::vector<ObjectName>& objects,
                                            TaskId num_tasks, int num_index_bits = 64);

  /// Records the loads of `objects` at this decision. Keeps at most `max_decisions` decisions by
  /// dropping the oldest.
  void add(std::vector<ObjectName> objects, std::vector<double> loads, std::size_t max_decisions);
};

/// Converts the history to bytes for a checkpoint. Only the same program on the same kind of
/// machine can read them.
std::vector<char> to_checkpoint(const Past& past);

/// Converts bytes from to_checkpoint() back to a history. Throws Error if the bytes are invalid.
Past from_checkpoint(const std::vector<char>& bytes);

}  // namespace poise::charm
