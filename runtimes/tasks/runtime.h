// SPDX-License-Identifier: BSD-3-Clause
// The implementation of a context: its threads run tasks, and call the offload engine in between.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/pool/pool.h"
#include "runtimes/tasks/trace.h"

#include "poise/online/polling.h"

namespace poise::tasks {

class Runtime {
 public:
  Runtime(Context& owner, MPI_Comm communicator, const ContextOptions& options);
  ~Runtime();

  /// Submits a task with the options `with`, whose members are moved from. Null means the default
  /// options.
  void submit(With* with, FunctionId function, std::span<const Item> items,
              std::source_location submitted_at, std::function<void()>&& deliver);
  void wait(unsigned team);
  bool yield();
  /// Polls for messages; the program may call it anywhere.
  void progress();
  std::string summary();
  Self self() const;
  Counters counters() const;
  std::pmr::memory_resource* memory() { return &engine_->messenger().arena; }
  const OffloadEngine& engine() const { return *engine_; }

  static Context* current_context();

 private:
  void start_threads(unsigned own, MPI_Comm communicator);
  void stop_threads();
  void describe(Task& task, With&& with) const;
  void progress_in_wait();
  void step_engine(double now_s);
  void step_and_unlock(std::unique_lock<std::mutex> lock);
  void wait_for_children(Children& children);
  std::uint64_t enter(unsigned team);
  void leave();
  template <typename Until>
  bool run_tasks(Until until);
  template <typename Until, typename Poll>
  void work(Until until, Poll poll);
  void park(std::uint32_t announced, double sleep_s);
  void work_in_background();
  void progress_in_background();
  bool poll_is_due(double now_s, double task_s) const;
  void sleep_until_woken(double sleep_s, WakeBackoff& backoff, std::uint32_t& wakes);
  void report_missing(double now_s);
  [[noreturn]] static void refuse(FunctionId function);
  void write_trace();

  Context& owner_;
  Knobs settings_;
  bool any_thread_;  // true: any thread may call MPI; false: only the main thread may
  std::vector<std::uint32_t> function_numbers_;  // by FunctionId
  std::string trace_path_;                       // empty if no trace is wanted
  std::unique_ptr<TraceRecorder> recorder_;
  std::unique_ptr<TaskPool> pool_;
  std::unique_ptr<OffloadEngine> engine_;
  std::mutex own_mutex_;
  // Guards the engine. Below MPI_THREAD_MULTIPLE all contexts share one mutex, because only one
  // thread may call MPI at a time.
  std::mutex& engine_mutex_;
  std::atomic<double> last_poll_s_{0};
  std::atomic<double> poll_cost_s_{1e-6};  // time of a poll that finds nothing, with tasks queued
  double poll_s_ = 0, patience_s_ = 0;

  // The current wait. The threads of a team may enter and leave it at different times.
  mutable std::mutex wait_mutex_;
  std::condition_variable wait_changed_;
  /// Waits are numbered from 1: the last wait that has begun, and the last that has ended.
  std::atomic<std::uint64_t> wait_{0}, done_{0};
  unsigned own_threads_ = 0;
  std::atomic<unsigned> inside_{0};
  std::atomic<unsigned> team_{1};  // number of the program's threads that wait together
  std::atomic<bool> all_inside_{false};
  std::atomic<bool> closing_{false};
  std::atomic<bool> reported_missing_{false};
  std::atomic<double> entered_s_{0};
  /// Seconds that this rank has spent in waits: wall time, and the sum over its threads. The sum
  /// also contains the time of tasks that the program ran by yield outside of waits.
  double waiting_s_ = 0, threads_waiting_s_ = 0;
  std::vector<std::thread> threads_;
  // Number of exceptions in flight when the context was created.
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace poise::tasks
