// SPDX-License-Identifier: BSD-3-Clause
// Packs lent tasks into messages and unpacks borrowed ones, with their data in shared memory or in
// payloads. task_format.h defines the bytes of a task.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtimes/tasks/offload/lent_tasks.h"
#include "runtimes/tasks/offload/messenger.h"

namespace poise::tasks {

class TaskCodec {
 public:
  TaskCodec(Messenger& messenger, LentTasks& lent) : messenger_(messenger), lent_(lent) {}

  /// Appends a task to a message to rank `to`. If `to` owns the task, its data items are not sent,
  /// because the owner still has them.
  void write(Writer& header, Task& task, std::uint32_t to, std::vector<Payload>& payloads);
  /// Reads a task from a message. A task of another rank is passed to `then` when all its data
  /// items have arrived. A task of this rank, which another rank sent back, is queued in the pool
  /// again.
  void read(Message& message, std::function<void(std::unique_ptr<Task>)> then);

 private:
  std::optional<Spot> spot_of(Task& task, std::size_t i);

  Messenger& messenger_;
  LentTasks& lent_;
  /// Locations of the items of the task that is being written.
  std::vector<std::optional<Spot>> spots_;
};

}  // namespace poise::tasks
