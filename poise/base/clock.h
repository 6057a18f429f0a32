// SPDX-License-Identifier: BSD-3-Clause
// The project's clocks. No other file reads a clock, except mini-apps and
// runtimes/profile/tick_clock.h (the processor's time-stamp counter). So a search for the functions
// of this file and of tick_clock.h finds all code that depends on time.
#pragma once

#include <cstdint>
#include <ctime>

namespace poise {

/// Returns the time of one of Linux's clocks in nanoseconds.
inline std::int64_t clock_now_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Returns the time of one of Linux's clocks in seconds.
inline double clock_now_s(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

/// Returns the wall time since a fixed time in the past. It never goes back, and is the same for
/// all processes of a computer. A read takes 22 ns.
inline double wall_now_s() { return clock_now_s(CLOCK_MONOTONIC); }
inline std::int64_t wall_now_ns() { return clock_now_ns(CLOCK_MONOTONIC); }

/// Returns the CPU time of the calling thread. A read is a system call of about 0.5 us.
inline double thread_cpu_now_s() { return clock_now_s(CLOCK_THREAD_CPUTIME_ID); }
inline std::int64_t thread_cpu_now_ns() { return clock_now_ns(CLOCK_THREAD_CPUTIME_ID); }

/// Returns the CPU time of this process, the sum over its threads.
inline double process_cpu_now_s() { return clock_now_s(CLOCK_PROCESS_CPUTIME_ID); }
inline std::int64_t process_cpu_now_ns() { return clock_now_ns(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace poise
