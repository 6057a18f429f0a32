// Records what a running program does: which task ran how long, and who told whom how much.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "poise/workload/tally.h"
#include "poise/workload/workload.h"

namespace poise {

/// Collects one phase at a time from any number of threads, each writing to a log of its own
/// without locks or atomics.
///
///     Recorder recorder(tasks, num_places);
///     Recorder::Log& log = recorder.add_thread();     // once per thread
///     log.begin(task, now_s); … log.message(task, other, bytes); … log.end(task, now_s);
///     Workload phase = recorder.end_phase(now_s);     // by one thread, while no other records
///
/// Time is an argument, in seconds: any clock that does not run backwards within a thread.
class Recorder {
 public:
  class Log;

  /// The tasks as they are, loads aside: bytes and whether they may move come back in every phase.
  Recorder(std::vector<Task> tasks, std::uint32_t num_places);
  ~Recorder();

  /// A log for the calling thread, valid as long as the recorder. Takes a lock.
  Log& add_thread();

  /// What was recorded since the last call: loads, messages one per ordered pair sorted by sender
  /// and receiver, and background load if any. A task that is running is charged up to now_s and
  /// goes on into the next phase (now_s then is on the clock of its thread).
  ///
  /// The caller sees to it that no thread records meanwhile and that what they recorded
  /// happened before (a barrier does both). Throws Error naming the first misuse by a log; the next
  /// phase starts afresh even then.
  Workload end_phase(double now_s);

 private:
  std::vector<Task> tasks_;
  std::uint32_t num_places_;
  std::mutex mutex_;  // guards the list, not the logs
  std::vector<std::unique_ptr<Log>> logs_;
};

/// One thread's part. Never waits, never stops the program: misuse is ignored and reported by
/// end_phase.
class alignas(128) Recorder::Log {
 public:
  Log(TaskId num_tasks, std::uint32_t num_places)
      : num_tasks_(num_tasks), num_places_(num_places) {}

  /// From now on this thread runs the task. A task that it was running waits until this one ends;
  /// the time in between is not its own.
  void begin(TaskId task, double now_s) {
    if (task >= num_tasks_) return note(Misuse::no_such_task, task);
    if (!running_.empty()) charge(now_s);
    running_.push_back(task);
    since_s_ = now_s;
  }

  /// The task begun last ends, or leaves for another thread, which begins it there: times add up.
  void end(TaskId task, double now_s) {
    if (running_.empty() || running_.back() != task) return note(Misuse::not_running, task);
    charge(now_s);
    running_.pop_back();
  }

  /// One task sends another a message of this size.
  void message(TaskId from, TaskId to, std::uint64_t bytes) {
    if (from >= num_tasks_ || to >= num_tasks_)
      return note(Misuse::no_such_task, from >= num_tasks_ ? from : to);
    Sent& sent = sent_[std::uint64_t{from} << 32 | to];
    ++sent.count;
    sent.bytes += bytes;
  }

  /// A place was busy this long with other things than tasks.
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
  void add_to(Workload& phase, std::vector<Message>& messages) const;
  std::string misuse() const;  // a line on the first one, empty if there was none
  void restart();

  TaskId num_tasks_;
  std::uint32_t num_places_;
  double since_s_ = 0;
  std::vector<TaskId> running_;  // the innermost last
  Tally<double> load_s_;         // by task
  Tally<Sent> sent_;             // by sender and receiver
  Tally<double> background_s_;   // by place
  Misuse misuse_ = Misuse::none;
  std::uint32_t misused_id_ = 0;
};

}  // namespace poise
