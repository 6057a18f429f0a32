// SPDX-License-Identifier: BSD-3-Clause
// The tasks that wait to run at a simulated rank.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace poise {

/// A group of equal tasks that belong to the same rank, their owner.
struct TaskGroup {
  std::uint32_t owner = 0, count = 0;
  std::uint32_t children = 0;  // tasks that each task submits when it ends
  double task_s = 0;           // seconds that a task takes on a rank of slowness 1
  double ran_s = 0;            // seconds that each task took, if it has run
  std::uint64_t ticket = 0;    // unique ID of a task that has a copy; 0: no copies
  std::uint32_t ran_on = 0;    // the rank that ran the task
  // wants_collector: on each node but the owner's, one rank should collect the results of that node
  // for the owner.
  // was_passed_on: the rank that has the tasks borrowed them from a rank that is not their owner
  // (LendingAgent::returns_to).
  bool wants_collector = false, was_passed_on = false;
};

/// Returns the number of tasks in all groups.
std::uint64_t num_tasks_of(const auto& groups) {
  std::uint64_t count = 0;
  for (const TaskGroup& group : groups) count += group.count;
  return count;
}

/// The queued tasks of one rank. Its own tasks and those that it borrowed have a queue each.
class LendingQueue {
 public:
  /// The cost of a task is its seconds if gives_costs is true, and otherwise 1.
  explicit LendingQueue(bool gives_costs) : gives_costs_(gives_costs) {}

  double cost_of(const TaskGroup& group) const {
    return group.count * (gives_costs_ ? group.task_s : 1);
  }
  /// Appends the tasks to the end of one of the queues.
  void push_own(const TaskGroup& group);
  void push_borrowed(const TaskGroup& group);

  /// Removes and returns the task to run next: the first borrowed one or, if there is none, the
  /// first own one. Returns nothing if both queues are empty.
  std::optional<TaskGroup> take_next();
  /// Removes and returns `tasks` tasks, or all if there are fewer: first the last own tasks and
  /// then, if borrowed_too is true, the last borrowed tasks.
  std::vector<TaskGroup> take_last(std::uint64_t tasks, bool borrowed_too);
  /// Removes and returns the own task with this ticket. Returns nothing if it is not in the queue.
  std::optional<TaskGroup> take_ticket(std::uint64_t ticket);

  std::uint64_t num_own() const { return num_own_; }
  std::uint64_t num_borrowed() const { return num_borrowed_; }
  std::uint64_t size() const { return num_own_ + num_borrowed_; }
  /// The sum of the costs of all queued tasks.
  double cost() const { return cost_; }
  /// Counts the tasks again, to check num_own() and num_borrowed().
  std::uint64_t recount() const { return num_tasks_of(own_) + num_tasks_of(borrowed_); }

 private:
  void drop_empty_ends();

  bool gives_costs_;
  // take_ticket() may take the task of a group in the middle of own_. Such a group stays in own_
  // with the count 0.
  std::deque<TaskGroup> own_, borrowed_;
  std::uint64_t num_left_ = 0;  // number of groups that have left the front of own_
  // For the ticket of each group in own_: the value of num_left_ at which the group will be at the
  // front of own_. Entries of groups that are no longer in own_ may remain.
  std::unordered_map<std::uint64_t, std::uint64_t> turn_of_ticket_;
  std::uint64_t num_own_ = 0, num_borrowed_ = 0;
  double cost_ = 0;
};

}  // namespace poise
