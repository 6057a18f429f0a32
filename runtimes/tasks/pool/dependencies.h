// The order of tasks that touch the same data, as OpenMP's depend clauses give it: who writes waits
// for all who touched the data before, who reads waits for the last who wrote. Not for several
// threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtimes/tasks/pool/task.h"

namespace poise::tasks {

/// A task with a place in the order.
struct DependencyNode {
  std::unique_ptr<Task> task;  // until it may start
  std::size_t waits_for = 0;
  std::vector<std::shared_ptr<DependencyNode>> followers;
  bool finished = false;
};

class DependencyTracker {
 public:
  /// Takes a task, to come after those taken before it that share bytes with it, both only reading
  /// excepted. Returns it if it may start at once, else null.
  std::unique_ptr<Task> add(std::unique_ptr<Task> task);

  /// Says that an added task is done; returns those that may start now.
  std::vector<std::unique_ptr<Task>> finish(DependencyNode& done);

  std::size_t unfinished() const { return unfinished_; }

 private:
  using Address = std::uintptr_t;
  struct Segment {
    Address end;
    std::shared_ptr<DependencyNode> writer;
    std::vector<std::shared_ptr<DependencyNode>> readers;  // since it was written
  };
  void write(Address begin, Address end, const std::shared_ptr<DependencyNode>& who);
  void read(Address begin, Address end, const std::shared_ptr<DependencyNode>& who);
  void split(Address at);

  std::map<Address, Segment> segments_;  // by begin; they do not overlap
  std::size_t unfinished_ = 0;
};

}  // namespace poise::tasks
