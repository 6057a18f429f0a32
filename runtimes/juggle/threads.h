// SPDX-License-Identifier: BSD-3-Clause
// The threads of a program and its children: finds new and ended ones, and reads their cpu times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace poise::juggle {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// The content of /proc/PID/task/TID/schedstat: run_s, the time on a cpu; wait_s, the time ready to
/// run but waiting for a cpu; and turns, the number of times that the thread was put on a cpu (0 if
/// unknown).
struct CpuTime {
  double run_s = 0, wait_s = 0;
  std::uint64_t turns = 0;
};
std::optional<CpuTime> parse_schedstat(std::string_view text);

/// Finds the start time of a thread, in clock ticks since boot, in the text of its `stat` file in
/// /proc. Start time and id together identify a thread uniquely. The name of the command, which
/// stands before the start time in the file, may contain blanks and brackets.
std::optional<std::uint64_t> parse_start_time(std::string_view stat);

/// Finds the id of the parent process in the text of a `stat` file in /proc; 0 if it is not there.
pid_t parse_parent(std::string_view stat);

/// Parses the numbers in /proc/PID/task/TID/children.
std::vector<pid_t> parse_children(std::string_view text);

/// A thread. Its `key` is never reused; its `id` may be reused when the thread is dead.
struct FoundThread {
  std::uint64_t key = 0;
  pid_t process = 0, id = 0;
  std::uint64_t start_time = 0;
  std::uint32_t rank_in_process = 0;  // index of the thread; 0: the first one found
  Descriptor schedstat, children;
  /// Counts the cpu time (counter.h), if schedstat is updated too rarely.
  Descriptor clock{};
  double run_before_clock_s = 0;  // cpu time when `clock` was opened
  pid_t parent = 0;               // the parent of the thread's process; 0: unknown
};

/// The result of a scan of /proc.
struct Changes {
  std::vector<std::uint64_t> born, died;  // keys of threads
};

/// Follows the threads of `root` and of all its descendants. Ignores threads of other users, kernel
/// threads, descendants that another balancer balances, and all threads beyond max_threads.
class ThreadFinder {
 public:
  /// `root` is the first process to follow. If `with_adopted` is true, the calling thread must be
  /// the first thread of a process that adopts orphans (a subreaper); the children of that process
  /// are then followed too, except the process `not_followed`.
  ThreadFinder(pid_t root, bool with_adopted, pid_t not_followed, std::size_t max_threads);

  /// After this call, each new thread gets a counter of its cpu time (counter.h), and read_time()
  /// reads this counter instead of schedstat's run time.
  void count_run_times() { counts_run_times_ = true; }
  /// True if the system refused to create a counter of cpu time for some thread.
  bool lacks_clocks() const { return lacks_clocks_; }
  /// Scans /proc for processes and threads; fast if none has begun or ended since the last scan.
  Changes scan();
  /// True if the number of threads of a known process has changed. Costs one fstat per process.
  bool has_changed() const;
  /// True if the thread with this key has a child process that the last scan did not find. Reads
  /// one file.
  bool has_new_child(std::uint64_t key) const;
  std::size_t num_processes() const { return processes_.size(); }

  const std::map<std::uint64_t, FoundThread>& threads() const { return threads_; }
  bool is_full() const { return is_full_; }
  /// True if a thread was ignored because this process cannot open more files.
  bool lacks_files() const { return lacks_files_; }
  /// True if a process was ignored because another balancer balances it (claim.h).
  bool meets_balancer() const { return meets_balancer_; }
  /// From now on, ignores `process`, a child of this process. A child that an earlier call excluded
  /// is no longer ignored.
  void do_not_follow(pid_t process) { not_followed_ = process; }
  /// True if the process still belongs to the user for whom the balancer runs.
  bool is_ours(pid_t process) const;

 private:
  struct Process {
    Descriptor folder;     // the process's folder in /proc; its owner is the user of the process
    Descriptor task;       // the process's folder of threads (/proc/PID/task)
    bool has_all = false;  // all threads of the process have been found
    std::uint64_t num_links = 0;
    std::uint32_t threads_seen = 0;
    pid_t parent = 0;  // the parent at the time when the threads were last listed
    std::map<pid_t, std::uint64_t> key_of;
  };
  bool is_for_other(pid_t process);
  void scan_process(pid_t process, std::vector<pid_t>& children, Changes& changes);
  bool is_as_seen(pid_t id, const Process& process) const;
  void list_threads(pid_t id, Process& process, Changes& changes);
  void open_clock(FoundThread& thread);
  void add_thread(pid_t process, pid_t id, Process& of, Changes& changes);

  pid_t root_;
  pid_t not_followed_;
  /// The file in /proc that lists this process's children; not open if they are not followed.
  Descriptor own_children_;
  std::size_t max_threads_;
  bool is_full_ = false, lacks_files_ = false, meets_balancer_ = false;
  bool counts_run_times_ = false, lacks_clocks_ = false;
  std::uint64_t next_key_ = 1;
  std::map<pid_t, Process> processes_;
  std::map<std::uint64_t, FoundThread> threads_;
};

/// Reads the last id assigned to a process or thread on this host from /proc/loadavg. As long as
/// this id stays the same, no thread has been created.
class LastBorn {
 public:
  LastBorn();
  /// The last id that was assigned on this host, or nothing if it cannot be read.
  std::optional<std::uint64_t> id() const;

 private:
  Descriptor file_;
};

/// Returns the cpu time of a thread, or nothing if the thread has ended.
std::optional<CpuTime> read_time(const FoundThread& thread);

/// Returns the start time of a thread that is alive now.
std::optional<std::uint64_t> start_time_of(pid_t process, pid_t thread);

/// Returns the id of the parent of a process; 0 if the process does not exist.
pid_t parent_of(pid_t process);

/// Returns the state of a process from /proc: 'R' running, 'S' sleeping, 'T' stopped and so on; 0
/// if the process does not exist.
char state_of(pid_t process);

/// Finding and measuring threads needs some parts of /proc. If one of them is missing, returns its
/// name and the reason; otherwise returns an empty text.
std::string missing_in_proc();

}  // namespace poise::juggle
