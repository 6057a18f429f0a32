// The runtime's clock.
#pragma once

#include <chrono>

namespace poise::tasks {

/// Seconds since some fixed time; never goes back.
inline double clock_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace poise::tasks
