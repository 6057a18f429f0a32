// SPDX-License-Identifier: BSD-3-Clause
// How long each OpenMP thread works in parallel regions, as the OpenMP runtime reports through
// OMPT. CPU time does not show this, because threads that wait at a barrier use their core.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace poise::profile {

/// The work of one OpenMP thread. Only this thread changes it.
class OmpThread {
 public:
  /// Records that the thread enters a parallel region of `threads` threads. The work in a region of
  /// one thread is counted only if this region is nested in a region of several threads.
  void enter_region(std::int64_t now_ns, unsigned threads);
  void leave_region(std::int64_t now_ns);
  /// Records that the thread waits in a barrier, a taskwait, or the end of a taskgroup. It may run
  /// tasks there.
  void begin_wait(std::int64_t now_ns);
  void end_wait(std::int64_t now_ns);
  void begin_task(std::int64_t now_ns);
  void end_task(std::int64_t now_ns);
  std::int64_t worked_ns() const { return worked_ns_.load(std::memory_order_relaxed); }

 private:
  void start(std::int64_t now_ns);
  void stop(std::int64_t now_ns);

  std::atomic<std::int64_t> worked_ns_ = 0;
  std::int64_t since_ns_ = -1;  // when the thread began to work; -1: it does not work
  int regions_ = 0;
  bool waits_ = false;
};

/// Returns how long each OpenMP thread of this process has worked in parallel regions of several
/// threads, without waits at barriers. Threads without such work are omitted. Empty if the OpenMP
/// runtime does not support OMPT (LLVM's libomp does, GCC's libgomp does not), or if another tool
/// uses OMPT.
std::vector<std::int64_t> omp_work_ns();

}  // namespace poise::profile
