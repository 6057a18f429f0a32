// The threads of a program and its children, as they appear and die, and the cpu time of each.
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

/// /proc/PID/task/TID/schedstat: nanoseconds on a cpu, and waiting for one while ready to run.
struct CpuTime {
  double run_s = 0, wait_s = 0;
};
std::optional<CpuTime> parse_schedstat(std::string_view text);

/// The start of a thread in clock ticks since boot, from /proc/PID/stat: with the thread's number
/// it names a thread for good. A command may hold blanks and brackets.
std::optional<std::uint64_t> parse_start_time(std::string_view stat);

/// The numbers in /proc/PID/task/TID/children.
std::vector<pid_t> parse_children(std::string_view text);

/// A thread: `key` is never used again, `id` may be once it is dead.
struct FoundThread {
  std::uint64_t key = 0;
  pid_t process = 0, id = 0;
  std::uint64_t start_time = 0;
  std::uint32_t rank_in_process = 0;  // 0: the first thread found of the process
  Descriptor schedstat, children;
};

/// What a look at /proc brought.
struct Changes {
  std::vector<std::uint64_t> born, died;  // keys
};

/// Follows the threads of `root` and of all its descendants. Threads of other users and kernel
/// threads are left out, and what is beyond max_threads.
class ThreadFinder {
 public:
  /// With `with_adopted` also the children that the calling thread adopts (the first thread of a
  /// subreaper does), less `not_followed`.
  ThreadFinder(pid_t root, bool with_adopted, pid_t not_followed, std::size_t max_threads);

  /// Looks for processes and threads: a walk through /proc, short where no thread came or went.
  Changes scan();
  /// Whether the number of threads of a known process has changed: one fstat per process.
  bool has_changed() const;
  std::size_t num_processes() const { return processes_.size(); }

  const std::map<std::uint64_t, FoundThread>& threads() const { return threads_; }
  bool is_full() const { return is_full_; }
  /// Whether a thread was left out since this process may open no more files.
  bool lacks_files() const { return lacks_files_; }
  /// Another child of the caller that is left out, in place of the one before.
  void do_not_follow(pid_t process) { not_followed_ = process; }
  /// Whether a process that was found belongs, by now, to the user whom the balancer runs for.
  bool is_ours(pid_t process) const;

 private:
  struct Process {
    Descriptor folder;     // of /proc: its owner is the process's user at any time
    Descriptor task;       // its folder of threads
    bool has_all = false;  // of them were found
    std::uint64_t num_links = 0;
    std::uint32_t threads_seen = 0;
    std::map<pid_t, std::uint64_t> key_of;
  };
  void scan_process(pid_t process, std::vector<pid_t>& children, Changes& changes);
  bool is_as_seen(pid_t id, const Process& process) const;
  void list_threads(pid_t id, Process& process, Changes& changes);
  void add_thread(pid_t process, pid_t id, Process& of, Changes& changes);

  pid_t root_;
  pid_t not_followed_;
  Descriptor own_children_;  // with those adopted; none: these are not followed
  std::size_t max_threads_;
  bool is_full_ = false, lacks_files_ = false;
  std::uint64_t next_key_ = 1;
  std::map<pid_t, Process> processes_;
  std::map<std::uint64_t, FoundThread> threads_;
};

/// The last number given to a process or thread on this host, from /proc/loadavg: while it stays,
/// none is new.
class LastBorn {
 public:
  LastBorn();
  /// Nothing where it cannot be told.
  std::optional<std::uint64_t> id() const;

 private:
  Descriptor file_;
};

/// The time a thread has had; nothing when it is gone.
std::optional<CpuTime> read_time(const FoundThread& thread);

/// The start time of a thread that is alive now.
std::optional<std::uint64_t> start_time_of(pid_t process, pid_t thread);

/// The state of a process as /proc tells it: 'R' running, 'S' sleeping, 'T' stopped, …; 0 for none.
char state_of(pid_t process);

/// What of /proc is missing that threads are found and measured by, with the reason; empty when all
/// is there.
std::string missing_in_proc();

}  // namespace poise::juggle
