// SPDX-License-Identifier: BSD-3-Clause
// Dependencies between tasks that access the same data, as with OpenMP's depend clauses: a writer
// waits for all earlier readers and writers, a reader for the last writer. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtimes/tasks/pool/task.h"

namespace poise::tasks {

/// A node of the dependency graph.
struct DependencyNode {
  std::unique_ptr<Task> task;  // holds the task until all its predecessors have finished
  std::size_t num_predecessors = 0;
  std::vector<std::shared_ptr<DependencyNode>> successors;
  bool finished = false;
};

class DependencyTracker {
 public:
  /// Adds a task. The task depends on every earlier task with which it shares a byte, unless both
  /// tasks only read that byte. Returns the task if it may start immediately, otherwise null.
  std::unique_ptr<Task> add(std::unique_ptr<Task> task);

  /// Marks a task as finished. Returns the tasks that may start now.
  std::vector<std::unique_ptr<Task>> finish(DependencyNode& done);

  std::size_t unfinished() const { return unfinished_; }

 private:
  using Address = std::uintptr_t;
  struct Segment {
    Address end;
    std::shared_ptr<DependencyNode> writer;
    // The tasks that have read this segment since the last write to it.
    std::vector<std::shared_ptr<DependencyNode>> readers;
  };
  void write(Address begin, Address end, const std::shared_ptr<DependencyNode>& node);
  void read(Address begin, Address end, const std::shared_ptr<DependencyNode>& node);
  void split(Address at);

  std::map<Address, Segment> segments_;  // segments by their first address; they do not overlap
  std::size_t unfinished_ = 0;
};

}  // namespace poise::tasks
