// SPDX-License-Identifier: BSD-3-Clause
// The two clocks of the objects runtime, in seconds.
#pragma once

#include <chrono>
#include <ctime>

namespace poise::objects {

/// Returns the wall time since an arbitrary start that is the same for all threads of the process.
inline double wall_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the CPU time of the calling thread.
inline double cpu_now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

}  // namespace poise::objects
