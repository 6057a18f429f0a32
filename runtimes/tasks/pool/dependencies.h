// Dependencies between tasks that touch the same data, as by OpenMP's depend clauses: a writer
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
  std::unique_ptr<Task> task;  // until all its predecessors have finished
  std::size_t num_predecessors = 0;
  std::vector<std::shared_ptr<DependencyNode>> successors;
  bool finished = false;
};

class DependencyTracker {
 public:
  /// Adds a task that depends on all earlier ones with which it shares bytes, unless both only read
  /// them. Returns the task if it may start at once, else null.
  std::unique_ptr<Task> add(std::unique_ptr<Task> task);

  /// Marks an added task as finished; returns the tasks that may start now.
  std::vector<std::unique_ptr<Task>> finish(DependencyNode& done);

  std::size_t unfinished() const { return unfinished_; }

 private:
  using Address = std::uintptr_t;
  struct Segment {
    Address end;
    std::shared_ptr<DependencyNode> writer;
    std::vector<std::shared_ptr<DependencyNode>> readers;  // since the last write
  };
  void write(Address begin, Address end, const std::shared_ptr<DependencyNode>& node);
  void read(Address begin, Address end, const std::shared_ptr<DependencyNode>& node);
  void split(Address at);

  std::map<Address, Segment> segments_;  // by first address; they do not overlap
  std::size_t unfinished_ = 0;
};

}  // namespace poise::tasks
