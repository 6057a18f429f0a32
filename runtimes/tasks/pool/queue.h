// The tasks of one rank that have not started. Not for several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtimes/tasks/pool/task.h"

namespace poise::tasks {

/// Borrowed tasks come first, then by priority; pinned ones, which nobody can take over, before
/// others of their priority. Among equals the oldest first, except that a task's own children are
/// newest first, so that a tree of tasks is walked depth first and does not fill the memory, and
/// that of borrowed tasks of one function the longest are, as they come from several ranks: what is
/// left to the end should be short. Of a great many each passes some tens of shorter ones at most.
class Queue {
 public:
  explicit Queue(std::size_t num_functions) : cost_(num_functions) {}

  /// Of a task that says how many bytes it has, as long as it is here.
  void push_borrowed(std::unique_ptr<Task> task);
  void push(std::unique_ptr<Task> task, bool newest_first);

  /// The next task to run; null when there is none.
  std::unique_ptr<Task> pop() {
    return pop_if([](const Task&) { return true; });
  }
  /// The same, if it is wanted; else it stays.
  template <typename Wanted>
  std::unique_ptr<Task> pop_if(Wanted wanted) {
    auto* const tasks = first();
    return tasks && wanted(std::as_const(*tasks->front())) ? pop_from(*tasks) : nullptr;
  }

  /// The first of these to run, null when none is here.
  std::unique_ptr<Task> pop_of(const Children& children);

  /// A task to lend: of the least priority the one that would be started last; after all own ones
  /// a borrowed one, if `borrowed_too`. Null if none may leave.
  std::unique_ptr<Task> take_last(bool borrowed_too);

  /// Those that may leave and are wanted, in the order of the queue.
  std::vector<std::unique_ptr<Task>> take(const std::function<bool(const Task&)>& wanted);
  /// Calls back with each task that may leave, the one to start first first.
  void for_each_lendable(const std::function<void(Task&)>& look) const;

  std::size_t size() const { return size_; }
  std::size_t num_lendable() const { return lendable_; }
  /// Units of cost queued of each function, and data in and out of all tasks.
  const std::vector<double>& cost() const { return cost_; }
  const Bytes& bytes() const { return bytes_; }
  /// Whether some that may leave are said to cost more or less than others of their function.
  bool differ() const { return num_costly_ > 0; }

 private:
  struct Level {
    std::deque<std::unique_ptr<Task>> pinned, free;
    bool empty() const { return pinned.empty() && free.empty(); }
  };
  std::deque<std::unique_ptr<Task>>* first();
  std::unique_ptr<Task> pop_from(std::deque<std::unique_ptr<Task>>& tasks);
  void count(const Task& task, int sign);
  std::unique_ptr<Task> leave(std::unique_ptr<Task> task);

  std::deque<std::unique_ptr<Task>> borrowed_;
  std::map<std::int32_t, Level, std::greater<>> levels_;
  std::size_t size_ = 0, lendable_ = 0, num_costly_ = 0;
  std::vector<double> cost_;
  Bytes bytes_;
};

}  // namespace poise::tasks
