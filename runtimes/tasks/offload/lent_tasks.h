// SPDX-License-Identifier: BSD-3-Clause
// The tasks of this rank that other ranks run: tasks that were lent, stored by slot number, and
// tasks of which another rank runs a copy.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtimes/tasks/pool/pool.h"

#include "poise/base/check.h"

namespace poise::tasks {

/// If this bit of a slot number is set, the task is replicated, and the other bits hold the ticket
/// (token.h) that identifies the task.
inline constexpr std::uint64_t kReplicaBit = std::uint64_t{1} << 63;

class LentTasks {
 public:
  explicit LentTasks(TaskPool& pool) : pool_(pool) {}

  bool empty() const { return free_.size() == slots_.size(); }
  /// Assigns a slot to a task that is to be lent.
  void reserve(Task& task) {
    if (free_.empty()) {
      free_.push_back(slots_.size());
      slots_.emplace_back();
    }
    task.slot = free_.back();
    free_.pop_back();
  }
  void keep(std::unique_ptr<Task> task) {
    task->enter(TaskState::lent);
    slots_[task->slot] = std::move(task);
  }

  /// Returns the task with this slot number. To be called when another rank has sent the result of
  /// the task or of a copy of it, or has sent the task back without running it.
  std::unique_ptr<Task> take(std::uint64_t slot) {
    if (slot & kReplicaBit) return pool_.take_started_elsewhere(slot & ~kReplicaBit);
    POISE_CHECK(slot < slots_.size() && slots_[slot]);
    free_.push_back(slot);
    return std::move(slots_[slot]);
  }

 private:
  TaskPool& pool_;
  std::vector<std::unique_ptr<Task>> slots_;
  std::vector<std::uint64_t> free_;
};

}  // namespace poise::tasks
