// SPDX-License-Identifier: BSD-3-Clause
// Records what a running program does: the time of each task and the messages between tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "poise/workload/tally.h"
#include "poise/workload/workload.h"

namespace poise {

/// The loads and messages of one phase. A task that did not run needs no entry.
struct Recording {
  struct Load {
    TaskId task = 0;
    double load_s = 0;
  };
  std::vector<Load> loads;        // sorted by task
  std::vector<Message> messages;  // one per ordered pair, sorted by sender and receiver
};

/// Collects one phase at a time from any number of threads. Each thread writes to its own log,
/// without locks or atomics.
///
///     Recorder recorder(tasks, num_places);
///     Recorder::Log& log = recorder.add_thread();     // once per thread
///     log.begin(task, now_s); … log.message(task, other, bytes); … log.end(task, now_s);
///     Workload phase = recorder.end_phase(now_s);     // by one thread; no other may record
///
/// Times are arguments, in seconds, from any clock that never goes backwards within a thread.
class Recorder {
 public:
  class Log;

  /// `tasks` gives the sizes of the tasks and whether they are movable; their loads are ignored.
  Recorder(std::vector<Task> tasks, std::uint32_t num_places);
  /// Creates a recorder for use with end_recording(). It needs memory only for the tasks that run.
  Recorder(TaskId num_tasks, std::uint32_t num_places);
  ~Recorder();

  /// Creates a log for the calling thread. It is valid as long as the recorder. Takes a lock.
  Log& add_thread();

  /// Returns what was recorded since the last call: loads; messages, one per ordered pair, sorted
  /// by sender and receiver; and background load if there is any. A task that is running now is
  /// charged up to now_s and continues in the next phase; in that case now_s must come from the
  /// clock of the thread that runs the task.
  ///
  /// The caller must ensure that no thread records during the call, and that all earlier records
  /// are visible to the calling thread; a barrier does both. Throws Error naming the first misuse
  /// of a log; the next phase starts empty nevertheless.
  Workload end_phase(double now_s);

  /// Ends the phase as end_phase() does, but returns only the loads and messages, without the
  /// background load.
  Recording end_recording(double now_s);

 private:
  void collect(double now_s, Workload& phase, Recording& recording);

  TaskId num_tasks_;
  std::vector<Task> tasks_;  // empty for end_recording()
  std::uint32_t num_places_;
  std::mutex mutex_;  // protects the list, not the logs
  std::vector<std::unique_ptr<Log>> logs_;
};

/// The log of one thread. Never blocks and never throws: misuse is ignored here and reported by
/// end_phase().
class alignas(128) Recorder::Log {
 public:
  Log(TaskId num_tasks, std::uint32_t num_places)
      : num_tasks_(num_tasks), num_places_(num_places) {}

  /// Records that this thread starts to run `task`. If the thread was running another task, that
  /// task is suspended until `task` ends, and is not charged for the time in between.
  void begin(TaskId task, double now_s) {
    if (task >= num_tasks_) return note(Misuse::no_such_task, task);
    if (!running_.empty()) charge(now_s);
    running_.push_back(task);
    since_s_ = now_s;
  }

  /// Ends the task that was begun last. begin() may continue the task later, also in another
  /// thread; the times of its parts add up.
  void end(TaskId task, double now_s) {
    if (running_.empty() || running_.back() != task) return note(Misuse::not_running, task);
    charge(now_s);
    running_.pop_back();
  }

  /// Records that one task sends another a message of this size.
  void message(TaskId from, TaskId to, std::uint64_t bytes) {
    if (from >= num_tasks_ || to >= num_tasks_)
      return note(Misuse::no_such_task, from >= num_tasks_ ? from : to);
    Sent& sent = sent_[std::uint64_t{from} << 32 | to];
    ++sent.count;
    sent.bytes += bytes;
  }

  /// Records that a place was busy for this time with work other than tasks.
  void background(PlaceId place, double seconds) {
    if (place >= num_places_) return note(Misuse::no_such_place, place);
    if (!(seconds >= 0)) return note(Misuse::negative_background, place);
    background_s_[place] += seconds;
  }

 private:
  friend class Recorder;

  struct Sent {
    std::uint64_t count = 0, bytes = 0;
    friend bool operator==(const Sent&, const Sent&) = default;
  };
  enum class Misuse : std::uint8_t {
    none,
    no_such_task,
    no_such_place,
    not_running,
    ran_backwards,
    negative_background
  };

  void charge(double now_s) {
    const double elapsed_s = now_s - since_s_;
    since_s_ = now_s;
    if (!(elapsed_s >= 0)) return note(Misuse::ran_backwards, running_.back());
    load_s_[running_.back()] += elapsed_s;
  }
  void note(Misuse misuse, std::uint32_t id);
  void add_to(Recording& recording) const;
  void add_background(Workload& phase) const;
  std::string misuse() const;  // describes the first misuse; empty if there was none
  void restart();

  TaskId num_tasks_;
  std::uint32_t num_places_;
  double since_s_ = 0;
  std::vector<TaskId> running_;  // innermost last
  Tally<double> load_s_;         // by task
  Tally<Sent> sent_;             // by sender and receiver
  Tally<double> background_s_;   // by place
  Misuse misuse_ = Misuse::none;
  std::uint32_t misused_id_ = 0;
};

}  // namespace poise
