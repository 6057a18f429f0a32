// SPDX-License-Identifier: BSD-3-Clause
// The part of the offload engine that returns results to the owner rank of each task. On the
// collector of a node, it also forwards results of the node's other ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtimes/tasks/offload/lent_tasks.h"
#include "runtimes/tasks/offload/load_exchange.h"
#include "runtimes/tasks/offload/messenger.h"

#include "poise/online/held_results.h"

namespace poise::tasks {

class Returns {
 public:
  /// `cancelled` is called with the original task if a copy of it ran.
  Returns(Messenger& messenger, LentTasks& lent, LoadExchange& loads,
          std::function<void(const Task&)> cancelled)
      : messenger_(messenger), lent_(lent), loads_(loads), cancelled_(std::move(cancelled)) {}

  /// Sends the results of finished borrowed tasks to their owners, if it is time to send them.
  void step(const TaskPool::State& state);
  /// Sends to rank `owner`, without delay, all results held for it. To be called before tasks are
  /// sent to `owner`: the results contain times, from which `owner` learns how slow this rank is
  /// before it decides whether to lend those tasks to this rank again.
  void send_results_of(std::uint32_t owner);
  void handle(Message& message);
  /// True if all results have been sent.
  bool empty() const { return results_.empty(); }
  /// Frees the results that had to stay in this rank's memory until the end of the wait, because
  /// other ranks read them there.
  void end_wait();

 private:
  /// A result to be sent: a finished borrowed task or, on the collector of a node
  /// (LendingAgent::returns_to), the bytes of a result that another rank of the node has sent to
  /// it.
  struct Held {
    std::unique_ptr<Task> task;
    std::vector<std::byte> collected;
  };
  std::uint32_t receiver_of(const Task& task) const;
  void send(std::uint32_t to, std::vector<Held> results);
  void send_message(std::uint32_t to, std::vector<Held> results);
  void write_task_result(Writer& header, Task& task, std::vector<Payload>& payloads);
  void write_output(Writer& header, const Item& item, std::vector<Payload>& payloads);
  void write_result(Writer& header, Buffer& result, std::vector<Payload>& payloads);
  void read_result_bytes(Buffer& result, Reader& reader, std::vector<Payload>& payloads);
  bool is_for_other(Message& message);
  double read_result(Message& message);
  std::vector<Payload> read_outputs(Task& task, Reader& reader);
  void learn_time(const Task& task, double seconds, std::uint32_t ran_on);

  Messenger& messenger_;
  LentTasks& lent_;
  LoadExchange& loads_;
  const std::function<void(const Task&)> cancelled_;
  HeldResults<Held> results_;
  std::vector<Buffer> kept_;  // results that their owners read in place until the wait ends
  double kept_bytes_ = 0;
};

}  // namespace poise::tasks
