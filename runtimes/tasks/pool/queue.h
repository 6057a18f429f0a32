// SPDX-License-Identifier: BSD-3-Clause
// The queue of a rank's tasks that have not started. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtimes/tasks/pool/task.h"

namespace poise::tasks {

/// The order in which tasks run:
/// - Borrowed tasks come first, because other ranks wait for them. A new borrowed task overtakes up
/// to kMaxSearched shorter ones of the same function, so that the shortest tasks run last.
/// - Then come the tasks of this rank, by decreasing priority. Among tasks of the same priority,
/// pinned tasks come first, because no other rank can take them.
/// - Otherwise, older tasks come first. But the children of a task are taken newest first: a tree
/// of tasks is walked depth first, which needs little memory.
class Queue {
 public:
  explicit Queue(std::size_t num_functions) : cost_(num_functions) {}

  /// Adds a borrowed task. Before the call, the task's member `queued` must have been set to the
  /// task's bytes().
  void push_borrowed(std::unique_ptr<Task> task);
  void push(std::unique_ptr<Task> task, bool newest_first);

  /// Takes the next task to run, or returns null if there is none.
  std::unique_ptr<Task> pop() {
    return pop_if([](const Task&) { return true; });
  }
  /// Takes the next task if `wanted` is true for it, else returns null.
  template <typename Wanted>
  std::unique_ptr<Task> pop_if(Wanted wanted) {
    Tasks* const tasks = first();
    return tasks && wanted(std::as_const(*tasks->front())) ? pop_from(*tasks) : nullptr;
  }

  /// Takes whichever of these children is to run next. Returns null if none is queued.
  std::unique_ptr<Task> pop_of(const Children& children);
  /// Takes the first borrowed task that another task submitted, because that task may be waiting
  /// for it. Returns null if there is none.
  std::unique_ptr<Task> pop_borrowed_child();

  /// Takes a task to lend: of the lendable tasks with the lowest priority, the one that would start
  /// last. If no task is lendable and `borrowed_too` is true, takes a borrowed task. Returns null
  /// if no task may be lent.
  std::unique_ptr<Task> take_last(bool borrowed_too);

  /// Takes the replicated task that was pushed with this ticket. Returns null if it is not in the
  /// queue. O(1) on average.
  std::unique_ptr<Task> take_ticket(Ticket ticket);
  /// Takes those lendable tasks for which `wanted` is true, in the order of the queue.
  std::vector<std::unique_ptr<Task>> take(const std::function<bool(const Task&)>& wanted);
  /// Calls `visit` for each lendable task, in the order of the queue.
  void for_each_lendable(const std::function<void(Task&)>& visit) const;

  std::size_t size() const { return size_; }
  std::size_t num_lendable() const { return lendable_; }
  std::size_t num_borrowed() const { return borrowed_.size(); }
  /// Totals over the lendable tasks: their cost per function, and the bytes that travel to another
  /// rank with them and back.
  const std::vector<double>& cost() const { return cost_; }
  const Bytes& bytes() const { return bytes_; }
  /// True if at least one lendable task has a cost other than 1.
  bool differ() const { return num_costly_ > 0; }

 private:
  using Tasks = std::deque<std::unique_ptr<Task>>;
  // The tasks of one priority. by_ticket_ has addresses of pointers in these lists, which would
  // move if another pointer were erased. So a task taken from the middle of a list leaves a null
  // pointer behind. The first and the last pointer of a list are never null.
  struct Level {
    Tasks pinned, free;
  };
  Tasks* first();
  std::unique_ptr<Task> pop_from(Tasks& tasks);
  std::unique_ptr<Task> take_at(Tasks& tasks, std::unique_ptr<Task>& task);
  void count(const Task& task, int sign);
  std::unique_ptr<Task> leave(std::unique_ptr<Task> task);

  Tasks borrowed_;
  std::map<std::int32_t, Level, std::greater<>> levels_;
  std::unordered_map<Ticket, std::unique_ptr<Task>*> by_ticket_;  // points into `free` of a level
  std::size_t size_ = 0, lendable_ = 0, num_costly_ = 0;
  std::size_t borrowed_children_ = 0;
  std::vector<double> cost_;
  Bytes bytes_;
};

}  // namespace poise::tasks
