// SPDX-License-Identifier: BSD-3-Clause
// The balancer's interface to Linux while a program runs. Tests replace it by a simulated kernel
// (simulated_kernel.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "runtimes/juggle/cpus.h"
#include "runtimes/juggle/threads.h"
#include "runtimes/juggle/wait_watch.h"

#include "poise/online/juggle.h"

namespace poise::juggle {

class Kernel {
 public:
  using Threads = std::map<std::uint64_t, FoundThread>;

  Kernel() = default;
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Seconds since the balancer's start.
  virtual double now_s() const = 0;

  /// Gets the cpus that a thread may use (0: the balancer itself). Returns false and sets errno on
  /// failure.
  virtual bool get_affinity(pid_t thread, CpuSet& set) const = 0;
  virtual bool set_affinity(pid_t thread, const CpuSet& set) = 0;

  /// Scans /proc for the program's processes and threads, as ThreadFinder::scan does.
  virtual Changes scan() = 0;
  /// Returns the threads that the last scan has found.
  virtual const Threads& threads() const = 0;
  virtual std::size_t num_processes() const = 0;
  /// True if the number of threads of a known process has changed since the last scan.
  virtual bool has_changed() const = 0;
  /// True if the thread with this key has started a process that the last scan did not find.
  virtual bool has_new_child(std::uint64_t key) const = 0;
  /// Returns the last thread id assigned on this host, or nothing if it cannot be read.
  virtual std::optional<std::uint64_t> last_born() const = 0;
  /// Returns the cpu time of a thread, or nothing if the thread has ended.
  virtual std::optional<CpuTime> read_time(const FoundThread& thread) const = 0;
  virtual std::optional<std::uint64_t> start_time_of(pid_t process, pid_t thread) const = 0;
  /// Explains to the user why some threads are ignored or measured late. The text is empty if this
  /// happens to no thread.
  virtual std::string shortage() const = 0;
  /// True if the process still belongs to the user for whom the balancer runs.
  virtual bool is_ours(pid_t process) const = 0;
  /// Returns the smallest quota of cpu time that holds for all of the processes together, as a
  /// number of cpus (quota.h), or nothing if there is none. If `processes` is empty, returns the
  /// quota of the program's first process.
  virtual std::optional<double> quota_cpus(const std::vector<pid_t>& processes) const = 0;
  /// True if the process's settings or libraries make threads spin while they wait (waiting.h).
  virtual bool waits_actively(pid_t process) const = 0;
  /// True if the process reports the waits of its threads (wait_table.h) or has ended.
  virtual bool reports_waits(pid_t process) const = 0;
  /// Returns what the thread reports about its waits, or nothing if it reports nothing.
  virtual std::optional<WaitReport> wait_report(pid_t thread) const = 0;
  /// Forgets the reports of a thread that has ended.
  virtual void forget_waits(pid_t thread) = 0;
};

/// The interface to the real kernel.
class Linux : public Kernel {
 public:
  /// The first four arguments are those of ThreadFinder. `waits` tells which threads report that
  /// they wait; it may be null.
  Linux(pid_t root, bool with_adopted, pid_t not_followed, std::size_t max_threads,
        WaitWatch* waits);

  double now_s() const override;
  bool get_affinity(pid_t thread, CpuSet& set) const override;
  bool set_affinity(pid_t thread, const CpuSet& set) override;
  Changes scan() override { return finder_.scan(); }
  const Threads& threads() const override { return finder_.threads(); }
  std::size_t num_processes() const override { return finder_.num_processes(); }
  bool has_changed() const override { return finder_.has_changed(); }
  bool has_new_child(std::uint64_t key) const override { return finder_.has_new_child(key); }
  std::optional<std::uint64_t> last_born() const override { return last_born_.id(); }
  std::optional<CpuTime> read_time(const FoundThread& thread) const override;
  std::optional<std::uint64_t> start_time_of(pid_t process, pid_t thread) const override;
  std::string shortage() const override;
  bool is_ours(pid_t process) const override { return finder_.is_ours(process); }
  std::optional<double> quota_cpus(const std::vector<pid_t>& processes) const override;
  bool waits_actively(pid_t process) const override;
  bool reports_waits(pid_t process) const override;
  std::optional<WaitReport> wait_report(pid_t thread) const override;
  void forget_waits(pid_t thread) override;

  /// From now on, ignores `process`, a child of this process. If an earlier call excluded another
  /// child, that child is balanced from now on.
  void do_not_follow(pid_t process) { finder_.do_not_follow(process); }

 private:
  pid_t root_;
  std::size_t max_threads_;
  ThreadFinder finder_;
  LastBorn last_born_;
  WaitWatch* waits_;
  double start_s_;
  Cpus tickless_cpus_;
};

}  // namespace poise::juggle
