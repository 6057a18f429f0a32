// SPDX-License-Identifier: BSD-3-Clause
// Measures how much cpu time each thread of this process used, according to the kernel.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace poise::profile {

/// The measurements of one thread while it was watched.
struct ThreadUse {
  std::int64_t run_ns = 0, queued_ns = 0;  // time on a cpu; time ready to run, but not on a cpu
  std::uint64_t turns = 0;                 // how often the kernel put the thread on a cpu
  /// The cpu to which the thread is bound; -1: it may use several.
  std::int32_t only_cpu = -1;
};

/// The measurements of those threads of a process that still exist when the profile ends.
struct TeamUse {
  std::int64_t watched_ns = 0;
  std::vector<std::int32_t> cpus = {};  // Linux's ids of the cpus that at least one thread may use
  std::vector<ThreadUse> threads = {};  // first the one that initialised MPI
};

/// Watches the threads of the process from its construction on. It reads files once at the
/// beginning and once at the end, so it costs nothing in between.
class TeamWatch {
 public:
  TeamWatch();
  /// Returns the cpu time and the waiting time of each thread of the process since construction.
  /// Threads that have ended are left out. The list of threads is empty if the kernel has no
  /// schedstat. O(threads).
  TeamUse read() const;

 private:
  int initial_;  // the id of the thread that created this object
  std::int64_t begin_ns_;
  std::vector<std::int32_t> cpus_;     // cpus that the initial thread may use
  std::map<int, ThreadUse> at_begin_;  // by thread id
};

}  // namespace poise::profile
