// The clock of the tasks runtime.
#pragma once

#include <chrono>

namespace poise::tasks {

/// Seconds since some fixed time, monotonic; the ranks of a node share it.
inline double clock_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace poise::tasks
