// SPDX-License-Identifier: BSD-3-Clause
// The part of the offload engine that lends tasks. The LendingAgent decides which tasks to lend.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtimes/tasks/offload/codec.h"
#include "runtimes/tasks/offload/load_exchange.h"
#include "runtimes/tasks/offload/messenger.h"
#include "runtimes/tasks/offload/returns.h"

#include "poise/online/offload_policy.h"

namespace poise::tasks {

/// What the functions of the program's policy see.
struct PolicyView {
  LoanProblem problem;  // problem.view refers to the other members
  std::vector<double> load_of_rank;
  std::vector<QueuedTask> queue;
  const LendingView& view() const { return problem.view; }
};

class LenderSide {
 public:
  LenderSide(Messenger& messenger, TaskCodec& codec, LentTasks& lent, LoadExchange& loads,
             Returns& returns, Policy policy)
      : messenger_(messenger),
        codec_(codec),
        lent_(lent),
        loads_(loads),
        returns_(returns),
        policy_(std::move(policy)) {}

  /// If a decision is due, decides which tasks to lend and lends them. The agent's take_answers()
  /// then declines the requests that this rank cannot satisfy.
  void step(const TaskPool::State& state);
  /// Stores a steal request until the next step.
  void handle_request(Message& message);
  /// True if a steal request has arrived since the last decision.
  bool is_request_undecided() const { return is_request_undecided_; }
  /// Calls on_lend if the program set one. If on_lend throws, the task fails on this rank, and
  /// prepare() returns false.
  bool prepare(std::unique_ptr<Task>& task);
  const Policy& policy() const { return policy_; }
  /// Reads the loads of other ranks, asks the program's policy for the load of this rank, and
  /// returns what the policy then sees.
  PolicyView updated_view(const TaskPool::State& state);
  /// Prints the current exception, which a function of the policy threw. Does nothing if an earlier
  /// exception was printed. `what` names the function and says what follows from its failure.
  void report_failure(const char* what);
  /// Calls Policy::cancelled with the data items of a copy that will not run.
  void report_cancelled(const Task& task);

 private:
  std::vector<Loan> decide(const TaskPool::State& state);
  std::vector<Loan> loans_of_policy(const TaskPool::State& state);
  PolicyView view(const TaskPool::State& state) const;
  void ask_policy_for_load(const TaskPool::State& state);
  bool lend_part(Loan& loan, double task_bytes, bool asked);
  std::size_t lend_batch(const Loan& loan, double task_bytes, bool borrowed_too);
  double pack(std::vector<std::unique_ptr<Task>>& tasks, std::uint32_t to, Writer& header,
              std::vector<Payload>& payloads, const Reason& reason);
  std::vector<std::unique_ptr<Task>> take_for(const Loan& loan, double task_bytes,
                                              bool borrowed_too);
  Reason reason_to_lend(std::uint32_t rank, const std::vector<std::unique_ptr<Task>>& tasks) const;
  void count_lent_to(std::uint32_t rank, std::size_t tasks);

  Messenger& messenger_;
  TaskCodec& codec_;
  LentTasks& lent_;
  LoadExchange& loads_;
  Returns& returns_;
  const Policy policy_;
  bool is_request_undecided_ = false, reported_failure_ = false;
  double reported_load_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> lent_to_;  // tasks lent to each rank
};

}  // namespace poise::tasks
