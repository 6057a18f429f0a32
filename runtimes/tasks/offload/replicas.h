// SPDX-License-Identifier: BSD-3-Clause
// Replication, a part of the offload engine: it copies tasks to other ranks ahead of time. Each of
// these tasks has a token, and the rank that takes the token first runs the task. This may be a
// rank with a copy, or the owner rank, which takes the token before it starts or lends the task.
// All other copies are dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtimes/tasks/offload/codec.h"
#include "runtimes/tasks/offload/lender.h"
#include "runtimes/tasks/offload/messenger.h"
#include "runtimes/tasks/transport/tokens.h"

namespace poise::tasks {

class Replicas {
 public:
  Replicas(Messenger& messenger, TaskCodec& codec, LenderSide& lender)
      : messenger_(messenger), codec_(codec), lender_(lender), tokens_(messenger.arena) {}

  /// Copies tasks of this rank to other ranks, and starts copies of other ranks' tasks on free
  /// threads.
  void step(const TaskPool::State& state, unsigned threads);
  void handle_replica(Message& message);
  void handle_claim(Message& message);
  void handle_answer(Message& message, bool granted);
  /// Drops all copies at the end of a wait, when every task has run.
  void drop();

 private:
  /// A copy of a task that belongs to another rank.
  struct Replica {
    std::unique_ptr<Task> task;
    Ticket ticket = 0;
    std::uint64_t* token = nullptr;  // null: only a message from the owner rank can grant the token
  };
  void ask_policy(const TaskPool::State& state);
  void send();
  /// A message with copies of tasks that is being written.
  struct Outgoing {
    Writer header;
    std::uint32_t num_tasks = 0;
    double payload_bytes = 0;
    std::vector<Payload> payloads;
    std::vector<std::shared_ptr<const void>> payload_copies;
  };
  void add(Outgoing& message, Task& task, std::uint32_t to);
  void send(Outgoing&& message, std::uint32_t to);
  void use(const TaskPool::State& state, unsigned threads);
  void claim_one();
  bool is_reached(std::uint32_t rank) const;

  Messenger& messenger_;
  TaskCodec& codec_;
  LenderSide& lender_;
  Tokens tokens_;
  std::deque<Replica> near_;  // replicas whose token is in shared memory, oldest first
  std::vector<Replica> far_;  // the others
  // Replicas whose token this rank has requested from the owner: at most one per free thread.
  std::vector<Replica> claimed_;
  std::uint64_t replicated_wait_ = 0;  // the last wait in which the policy chose replicas
  double next_s_ = 0;
};

}  // namespace poise::tasks
