// SPDX-License-Identifier: BSD-3-Clause
// The clock of the tasks runtime.
#pragma once

#include <chrono>

namespace poise::tasks {

/// Seconds since a fixed time in the past. Monotonic, and the same for all ranks of a node.
inline double clock_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace poise::tasks
