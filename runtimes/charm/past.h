// What a balancer remembers of its decisions, also from one run to the next by a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtimes/charm/statistics.h"

#include "poise/workload/workload.h"

namespace poise::charm {

struct Past {
  std::uint64_t num_decisions = 0;
  std::vector<ObjectName> names = {};  // of the objects whose loads are known, in order of tasks
  std::vector<std::vector<double>> loads_s = {};  // of each decision, oldest first

  /// The loads of these objects before, filled up to a load for each task. Objects may have been
  /// renamed by a restart, but for the lowest bits of their ids. The past ends where objects come
  /// or go.
  std::vector<std::vector<double>> loads_of(const std::vector<ObjectName>& objects,
                                            TaskId num_tasks, int num_index_bits = 64);

  /// The loads of this decision; the oldest are dropped, so that `max_decisions` remain.
  void add(std::vector<ObjectName> objects, const Workload& workload, std::size_t max_decisions);
};

/// For a checkpoint, which the same program reads on a machine of the same kind.
std::vector<char> to_checkpoint(const Past& past);

/// Throws Error where the bytes are not those of a Past.
Past from_checkpoint(const std::vector<char>& bytes);

}  // namespace poise::charm
