// The task pool of one rank: its threads take tasks from it and run them. Knows nothing of
// messages.
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
#include "runtimes/tasks/pool/overhead.h"
#include "runtimes/tasks/pool/queue.h"
#include "runtimes/tasks/pool/task.h"
#include "runtimes/tasks/pool/task_times.h"
#include "runtimes/tasks/pool/token.h"
#include "runtimes/tasks/start/function.h"
#include "runtimes/tasks/trace.h"
#include "runtimes/tasks/transport/backoff.h"

#include "poise/online/lending.h"

namespace poise::tasks {

/// Thread-safe.
class TaskPool {
 public:
  TaskPool(std::uint32_t rank, std::vector<const Registered*> functions);

  /// Records what runs from now on; null: nothing.
  void record(TraceRecorder* recorder) { recorder_ = recorder; }
  TraceRecorder* recorder() const { return recorder_; }

  /// An empty task, to be filled and given to submit.
  static std::unique_ptr<Task> blank();
  /// `in_order`: run it after earlier tasks of this kind that touch the same data and have the same
  /// parent task, or none.
  void submit(std::unique_ptr<Task> task, bool in_order = false);

  /// Runs a batch of at most `max_tasks` tasks and returns their number; 0 if there is none.
  /// `now_s` is the time when the batch begins, and afterwards when it ended. A batch is timed and
  /// counted as a whole, so its tasks are of one function and no rank waits for a single one of
  /// them. It ends early when `is_notified()`. A thread inside a task that waits for its children
  /// runs these first, and others only up to kMaxNestedWaits.
  std::size_t run(double& now_s, std::size_t max_tasks, const std::function<bool()>& is_notified);

  /// The task of this pool that the calling thread runs; else null.
  Task* current() const;
  /// The children of the current task; null when it has none.
  Children* children() const;

  /// Ends an own task that was lent, once its outputs are in place.
  void finish(std::unique_ptr<Task> task, std::uint32_t ran_on);

  void accept_borrowed(std::unique_ptr<Task> task);
  /// Queues an own task again that was lent and has come back without having run.
  void take_back(std::unique_ptr<Task> task);
  std::vector<std::unique_ptr<Task>> take_for_lending(std::size_t max_tasks, double max_bytes,
                                                      bool borrowed_too);
  /// Takes the tasks for which `wanted` is true.
  std::vector<std::unique_ptr<Task>> take_for_lending(
      const std::function<bool(const Task&)>& wanted);

  /// Borrowed tasks that ran since the last call.
  std::vector<std::unique_ptr<Task>> take_done_borrowed();
  /// Notes that the results of this many borrowed tasks are in flight.
  void borrowed_departed(std::size_t tasks);

  /// Takes the own tasks that are to be copied to a rank for which `can_receive` is true. The
  /// caller copies them and puts them back with take_back.
  std::vector<std::unique_ptr<Task>> take_to_replicate(
      const std::function<bool(std::uint32_t rank)>& can_receive);
  /// Marks the first tasks of the queue for copies to these ranks, as With::replicas does.
  void want_replicas(const Replication& what);
  /// Returns whether a rank that has a copy of this task may start it, and if so gives it up here.
  bool grant_replica(Ticket ticket);
  /// An own task of which another rank has run its copy.
  std::unique_ptr<Task> take_started_elsewhere(Ticket ticket);

  struct State {
    std::size_t queued = 0, lendable = 0, running = 0, borrowed = 0, done_borrowed = 0;
    double queued_s = 0;          // expected seconds of lendable tasks, without unknown functions
    bool all_times_known = true;  // of the functions of lendable tasks
    bool tasks_differ = false;    // some lendable task has a cost other than 1
    Bytes bytes;                  // of the data of lendable tasks
    TaskOverhead finishing;       // of own tasks that other ranks ran
    std::uint64_t created = 0, finished = 0;
    bool idle() const { return created == finished && borrowed == 0 && running == 0; }
  };
  State state() const;
  /// Tasks that may be lent, named by With::name, or by number.
  std::vector<QueuedTask> queue(bool by_number = false) const;
  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }

  const TaskTimes& times() const { return times_; }
  /// Learns from a task of this function that ran on another rank.
  void learn_time(std::uint32_t function, double seconds, double cost) {
    times_.learn(function, seconds, cost);
  }
  const Registered& function(std::uint32_t number) const { return *functions_[number]; }
  std::vector<Failure> take_failures();
  Counters counters() const;

 private:
  struct Batch;
  std::unique_ptr<Task> next();
  std::unique_ptr<Task> pop();
  std::unique_ptr<Task> next_of_batch(const Task& before);
  bool can_be_batched(const Task& task) const;
  void call(Task& task);
  double end(Batch& batch, double begin_s);
  void count_run(std::unique_ptr<Task>& task);
  bool deliver(Task& task);
  void count_finished(Task& task, std::uint32_t ran_on);
  void enqueue(std::unique_ptr<Task> task, bool newest_first);
  DependencyTracker& tracker_of(const Task& task);
  bool is_ours(std::unique_ptr<Task>& task);
  void count_departed(const std::vector<std::unique_ptr<Task>>& tasks);

  const std::uint32_t rank_;
  const std::vector<const Registered*> functions_;
  TaskTimes times_;
  TaskOverhead finishing_;
  TraceRecorder* recorder_ = nullptr;
  mutable BriefMutex mutex_;  // guards all below, sorted so that a task touches few cache lines
  std::atomic<std::size_t> queued_{0};
  std::size_t running_ = 0, borrowed_ = 0;
  std::uint64_t created_ = 0, finished_ = 0, accepted_ = 0;
  Counters counters_;
  std::vector<std::unique_ptr<Task>> recycled_;  // finished own tasks, emptied
  Queue queue_;
  DependencyTracker dependencies_;
  std::vector<std::unique_ptr<Task>> done_borrowed_;
  std::vector<Failure> failures_;
  std::map<Ticket, std::unique_ptr<Task>> started_elsewhere_;  // own tasks: a copy of each runs
  Ticket last_ticket_ = 0;
  std::atomic<std::size_t> num_to_replicate_{0};  // queued tasks still to be copied
};

}  // namespace poise::tasks
