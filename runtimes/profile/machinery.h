// SPDX-License-Identifier: BSD-3-Clause
// Reads what the kernel measures about this thread and process.
#pragma once

#include <cstdint>
#include <string>

#include "runtimes/profile/phase.h"

namespace poise::profile {

/// Measures the thread that constructs this object.
class ThreadMeter {
 public:
  ThreadMeter();
  ~ThreadMeter();
  ThreadMeter(const ThreadMeter&) = delete;
  ThreadMeter& operator=(const ThreadMeter&) = delete;

  Machinery read() const;
  /// Returns Machinery::queued_ns alone.
  std::int64_t queued_ns() const;

 private:
  int schedstat_ = -1;  // open file; -1: the kernel has none, so waits for a cpu are unknown
};

std::string host_name();

/// Parses the next two numbers of a text such as /proc/self/schedstat: for how many nanoseconds a
/// thread ran, and for how many it waited for a cpu. Returns false unless there are two numbers.
bool parse_schedstat(const char* text, std::int64_t& run_ns, std::int64_t& queued_ns);

}  // namespace poise::profile
