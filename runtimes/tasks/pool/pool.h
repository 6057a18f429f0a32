// SPDX-License-Identifier: BSD-3-Clause
// The task pool of one rank: its threads take tasks from it and run them. It sends no messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtimes/tasks/counters.h"
#include "runtimes/tasks/policy.h"
#include "runtimes/tasks/pool/dependencies.h"
#include "runtimes/tasks/pool/queue.h"
#include "runtimes/tasks/pool/task.h"
#include "runtimes/tasks/pool/token.h"
#include "runtimes/tasks/start/function.h"
#include "runtimes/tasks/trace.h"
#include "runtimes/tasks/transport/backoff.h"

#include "poise/online/lending.h"
#include "poise/online/loan_policy.h"
#include "poise/online/task_overhead.h"
#include "poise/online/task_times.h"

namespace poise::tasks {

/// Thread-safe.
class TaskPool {
 public:
  TaskPool(std::uint32_t rank, std::vector<const Registered*> functions);

  /// From now on, the tasks that run are recorded in `recorder`. A null pointer stops recording.
  void record(TraceRecorder* recorder) { recorder_ = recorder; }
  TraceRecorder* recorder() const { return recorder_; }

  /// Returns an empty task, to be filled and passed to submit.
  static std::unique_ptr<Task> blank();
  /// Queues a task. If `in_order` is true, the task runs after those tasks queued earlier with
  /// `in_order` that access the same data and have the same parent task. Tasks without a parent
  /// count as having the same parent.
  void submit(std::unique_ptr<Task> task, bool in_order = false);

  /// Runs a batch of at most `max_tasks` tasks and returns their number; 0 if none is queued.
  /// `now_s` is the time when the batch begins, and on return the time when it ended. A batch is
  /// timed and counted as a whole. So all its tasks have the same function, and it ends after a
  /// task whose result another task or rank may be waiting for. It also ends early when
  /// `is_notified()` is true.
  ///
  /// A thread whose task has children runs these children first. It also runs other tasks, as long
  /// as at most kMaxNestedWaits tasks are nested on it. Beyond that depth, it runs only the
  /// children and those borrowed tasks for which a task of another rank may wait. If a task without
  /// children yields, its thread runs other tasks only while at most kMaxNestedYields tasks are
  /// nested on it.
  std::size_t run(double& now_s, std::size_t max_tasks, const std::function<bool()>& is_notified);

  /// The task of this pool that the calling thread runs, or null.
  Task* current() const;
  /// The children of the current task, or null if it has none.
  Children* children() const;

  /// Records whether the current task waits for its children. state() does not count a waiting task
  /// as running, because its thread can meanwhile run any other task. If too many tasks are nested
  /// on the thread, state() does count the task as running.
  void set_waiting(bool waits);

  /// Adds to the time that the current task has spent in waits and yields. Counters::working_s does
  /// not contain this time, but contains the time of other tasks that ran meanwhile.
  void add_waited(double seconds);

  /// Finishes a task of this rank that was lent, once its outputs are in place.
  void finish(std::unique_ptr<Task> task, std::uint32_t ran_on);

  void accept_borrowed(std::unique_ptr<Task> task);
  /// Puts a task of this rank back into the queue: one that was lent but came back unrun, or one
  /// that was taken out only to send copies of it.
  void take_back(std::unique_ptr<Task> task);
  /// Takes at most `max_tasks` tasks out of the queue. Stops earlier when the tasks taken have
  /// `max_bytes` bytes or more.
  std::vector<std::unique_ptr<Task>> take_for_lending(std::size_t max_tasks, double max_bytes,
                                                      bool borrowed_too);
  /// Takes the lendable tasks for which `wanted` is true out of the queue.
  std::vector<std::unique_ptr<Task>> take_for_lending(
      const std::function<bool(const Task&)>& wanted);
  /// Counts tasks as lent. To be called once for each message, with the tasks in it.
  void count_lent(const std::vector<std::unique_ptr<Task>>& tasks);

  /// Takes the borrowed tasks that ran since the last call.
  std::vector<std::unique_ptr<Task>> take_done_borrowed();
  /// Records that the results of `tasks` borrowed tasks are in flight.
  void borrowed_departed(std::size_t tasks);

  /// Takes the tasks of this rank that are to be copied to a rank for which `can_receive` is true.
  /// The caller copies them and puts them back with take_back.
  std::vector<std::unique_ptr<Task>> take_to_replicate(
      const std::function<bool(std::uint32_t rank)>& can_receive);
  /// Marks the first tasks of the queue to be copied to other ranks, as if the program had
  /// submitted them with With::replicas.
  void want_replicas(const Replication& what);
  /// Takes the token of this task for a rank that has a copy. If this returns true, that rank may
  /// start the copy, and this rank will not run the task.
  bool grant_replica(Ticket ticket);
  /// Takes the original of a replicated task, after another rank has run a copy of it.
  std::unique_ptr<Task> take_started_elsewhere(Ticket ticket);

  struct State : QueueState {
    std::size_t borrowed = 0, done_borrowed = 0;
    std::uint64_t created = 0, finished = 0;
    bool idle() const { return created == finished && borrowed == 0 && running == 0; }
  };
  State state() const;
  /// Returns a list of the lendable tasks. It identifies each task by With::name or, if `by_number`
  /// is true, by the task's number.
  std::vector<QueuedTask> queue(bool by_number = false) const;
  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }

  const TaskTimes& times() const { return times_; }
  /// Updates the expected run time of a function from a task that ran on another rank.
  void learn_time(std::uint32_t function, double seconds, double cost) {
    times_.learn(function, seconds, cost);
  }
  const Registered& function(std::uint32_t number) const { return *functions_[number]; }
  /// Takes the failures of tasks that have no parent, or whose parent ended without reporting them.
  std::vector<Failure> take_failures();
  /// Takes the failures of a task's children.
  std::vector<Failure> take_failures_of(Children& children);
  Counters counters() const;

 private:
  struct Batch;
  std::unique_ptr<Task> next(Batch& batch, double now_s);
  std::unique_ptr<Task> pop();
  std::unique_ptr<Task> next_of_batch(const Batch& batch);
  double expected_s(const Task& task) const { return times_.per_unit(task.function) * task.cost; }
  double deviation_s(const Task& task) const {
    return expected_s(task) * times_.deviation(task.function);
  }
  bool can_be_batched(const Task& task) const;
  void call(Batch& batch);
  double end(Batch& batch, double begin_s);
  void count_run(std::unique_ptr<Task>& task);
  bool deliver(Task& task);
  void count_finished(Task& task, std::uint32_t ran_on);
  void end_parent(Children& children);
  void enqueue(std::unique_ptr<Task> task, bool newest_first);
  DependencyTracker& tracker_of(const Task& task);
  bool is_ours(std::unique_ptr<Task>& task);
  void keep_started_elsewhere(Ticket ticket, std::unique_ptr<Task> task);

  const std::uint32_t rank_;
  const std::vector<const Registered*> functions_;
  TaskTimes times_;
  TaskOverhead finishing_;
  TraceRecorder* recorder_ = nullptr;
  // Guards all members below. They are ordered so that the pool accesses few cache lines per task.
  mutable BriefMutex mutex_;
  std::atomic<std::size_t> queued_{0};
  // The batches that threads are running: the time at which each batch began, the expected run
  // time of the tasks that it has started up to now, and the probable error of that time.
  struct Running {
    double begin_s = 0, expected_s = 0, deviation_s = 0;
    const Batch* batch = nullptr;
    bool waits = false;  // the batch's last task waits, and its thread runs other tasks meanwhile
  };
  std::vector<Running> running_;
  std::uint32_t last_function_ = 0;  // function of the task that ran last
  double last_cost_ = 0;
  std::size_t borrowed_ = 0;
  std::uint64_t created_ = 0, finished_ = 0, accepted_ = 0;
  Counters counters_;
  std::vector<std::unique_ptr<Task>> recycled_;  // finished tasks of this rank, emptied for reuse
  Queue queue_;
  DependencyTracker dependencies_;
  std::vector<std::unique_ptr<Task>> done_borrowed_;
  std::vector<Failure> failures_;
  // Tasks of this rank that do not run here, because another rank runs a copy.
  std::map<Ticket, std::unique_ptr<Task>> started_elsewhere_;
  Ticket last_ticket_ = 0;
  std::atomic<std::size_t> num_to_replicate_{0};  // queued tasks that are still to be copied
};

}  // namespace poise::tasks
