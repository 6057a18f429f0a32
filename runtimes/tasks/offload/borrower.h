// SPDX-License-Identifier: BSD-3-Clause
// The part of the offload engine that sends steal requests, and receives tasks or the answer that
// there are none.
#pragma once

#include "runtimes/tasks/offload/codec.h"
#include "runtimes/tasks/offload/load_exchange.h"
#include "runtimes/tasks/offload/messenger.h"

namespace poise::tasks {

class BorrowerSide {
 public:
  BorrowerSide(Messenger& messenger, TaskCodec& codec, LoadExchange& loads)
      : messenger_(messenger), codec_(codec), loads_(loads) {}

  /// Wakes the progress threads of victims that do not answer. If this rank is idle, asks another
  /// rank for tasks, but not while messages wait here: they may contain tasks, and a rank that
  /// cannot keep up with its messages should not cause more of them.
  void step(const TaskPool::State& state, bool messages_wait);
  void handle_tasks(Message& message);
  void handle_decline(const Message& message);

 private:
  Messenger& messenger_;
  TaskCodec& codec_;
  LoadExchange& loads_;
};

}  // namespace poise::tasks
