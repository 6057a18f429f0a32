// Where the tasks of one rank wait and run: shared by its threads; knows nothing of messages.
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

class TaskPool {
 public:
  static constexpr std::size_t kMaxBatch = 16;

  TaskPool(std::uint32_t rank, std::vector<const Registered*> functions);

  /// Tells these events what runs, from now on; null: nobody.
  void tell(TraceRecorder* events) { recorder_ = events; }
  TraceRecorder* events() const { return recorder_; }

  /// A new task, for submit.
  static std::unique_ptr<Task> blank();
  /// `in_order`: after earlier such tasks, of the same parent or of none, that touch the same data.
  void submit(std::unique_ptr<Task> task, bool in_order = false);

  /// Runs tasks in a row, the first from `now_s` on, which becomes when the last one ended. They
  /// are timed and counted together, so several, `most` at most, are of one function, nobody waits
  /// for a single one of them, and nobody has `called` in between. Returns how many ran; 0 if there
  /// was none. Inside a task that waits for its own, these come first; others only while few tasks
  /// wait inside one another on this thread, as each keeps its part of the stack.
  std::size_t run(double& now_s, std::size_t most, const std::function<bool()>& called);

  /// The task that the calling thread runs, of this workplace; else null.
  Task* current() const;
  /// Those of the current task; null when it has none.
  Children* children() const;

  /// An own task is done and its outputs are in place.
  void finish(std::unique_ptr<Task> task, std::uint32_t ran_on);

  void accept_borrowed(std::unique_ptr<Task> task);
  /// An own task that was lent has come home without having run.
  void take_back(std::unique_ptr<Task> task);
  std::vector<std::unique_ptr<Task>> take_for_lending(std::size_t most, double most_bytes,
                                                      bool borrowed_too);
  /// Those of which `wanted` says so.
  std::vector<std::unique_ptr<Task>> take_for_lending(
      const std::function<bool(const Task&)>& wanted);

  /// Borrowed tasks that ran since the last call.
  std::vector<std::unique_ptr<Task>> take_done_borrowed();
  /// Their results are under way.
  void borrowed_departed(std::size_t tasks);

  /// Own tasks that are to be copied to a rank which `reached` says can have them now; to be put
  /// back by take_back.
  std::vector<std::unique_ptr<Task>> take_to_replicate(
      const std::function<bool(std::uint32_t rank)>& reached);
  /// Has the first tasks of the queue copied to these ranks, as if they had been submitted so.
  void want_replicas(const Replication& what);
  /// Whether a rank that has a copy of this task may start it.
  bool grant_replica(Ticket ticket);
  /// An own task that a rank which had a copy of it has run.
  std::unique_ptr<Task> take_started_elsewhere(Ticket ticket);

  struct State {
    std::size_t queued = 0, lendable = 0, running = 0, borrowed = 0, done_borrowed = 0;
    double queued_s = 0;          // of lendable tasks, as far as known
    bool all_times_known = true;  // of the functions queued
    bool tasks_differ = false;    // by what they are said to cost
    Bytes bytes;                  // of lendable tasks
    TaskOverhead finishing;       // of results that came home
    std::uint64_t created = 0, finished = 0;
    bool idle() const { return created == finished && borrowed == 0 && running == 0; }
  };
  State state() const;
  /// Tasks that may leave, as their submitter named them, or by their numbers.
  std::vector<QueuedTask> queue(bool by_number = false) const;
  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }

  const TaskTimes& times() const { return times_; }
  /// From a task of this function that ran on another rank.
  void learn_time(std::uint32_t function, double seconds, double cost) {
    times_.learn(function, seconds, cost);
  }
  const Registered& function(std::uint32_t wire) const { return *functions_[wire]; }
  std::vector<Failure> take_failures();
  Counters counters() const;

 private:
  struct Batch;
  std::unique_ptr<Task> next();
  std::unique_ptr<Task> pop();
  std::unique_ptr<Task> next_of_batch(const Task& before);
  bool can_be_batched(const Task& task) const;
  void call(Task& task);
  double end(Batch& row, double begin_s);
  void count_run(std::unique_ptr<Task>& task);
  bool deliver(Task& task);
  void count_finished(Task& task, std::uint32_t ran_on);
  void enqueue(std::unique_ptr<Task> task, bool newest_first);
  DependencyTracker& tracker_of(const Task& task);
  bool is_ours(std::unique_ptr<Task>& task);
  void left(const std::vector<std::unique_ptr<Task>>& tasks);

  const std::uint32_t rank_;
  const std::vector<const Registered*> functions_;
  TaskTimes times_;
  TaskOverhead finishing_;
  TraceRecorder* recorder_ = nullptr;
  mutable BriefMutex mutex_;  // of all below, of which each task touches what comes first
  std::atomic<std::size_t> queued_{0};
  std::size_t running_ = 0, borrowed_ = 0;
  std::uint64_t created_ = 0, finished_ = 0, accepted_ = 0;
  Counters counters_;
  std::vector<std::unique_ptr<Task>> recycled_;  // own ones that are done, as new
  Queue queue_;
  DependencyTracker dependencies_;
  std::vector<std::unique_ptr<Task>> done_borrowed_;
  std::vector<Failure> failures_;
  std::map<Ticket, std::unique_ptr<Task>>
      started_elsewhere_;  // own tasks of which a copy was started
  Ticket last_ticket_ = 0;
  std::atomic<std::size_t> wanted_{0};  // tasks queued that are to be copied
};

}  // namespace poise::tasks
