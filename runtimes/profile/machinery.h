// SPDX-License-Identifier: BSD-3-Clause
// Reads what the kernel says of this thread and process.
#pragma once

#include <cstdint>
#include <string>

#include "runtimes/profile/phase.h"

namespace poise::profile {

/// CLOCK_MONOTONIC, which processes of one host share: 22 ns a read.
std::int64_t clock_ns();
/// The CPU time of this thread: a system call.
std::int64_t thread_cpu_ns();

/// Follows the thread that makes it.
class ThreadMeter {
 public:
  ThreadMeter();
  ~ThreadMeter();
  ThreadMeter(const ThreadMeter&) = delete;
  ThreadMeter& operator=(const ThreadMeter&) = delete;

  Machinery read() const;

 private:
  int schedstat_ = -1;  // open file; -1: the kernel has none, and nothing is known of queueing
};

std::string host_name();

/// The next two numbers of a text such as /proc/self/schedstat: nanoseconds run and queued. False
/// if it has none.
bool parse_schedstat(const char* text, std::int64_t& run_ns, std::int64_t& queued_ns);

}  // namespace poise::profile
