// SPDX-License-Identifier: BSD-3-Clause
// Decides how often a rank polls for messages, how many tasks it runs in between, and how long its
// progress thread and its idle threads sleep.
#pragma once

#include <cstddef>
#include <cstdint>

#include "poise/online/lending_tuning.h"
#include "poise/online/moving_average.h"

namespace poise {

/// What a busy thread knows when it considers a poll.
struct PollView {
  double since_s = 0;         // since the last poll
  bool has_messages = false;  // a doorbell has rung, or a transfer is in flight
  bool all_notify = false;    // every message except gossip rings the doorbell
  double remaining_s = 0;     // queued work of this thread
  double poll_cost_s = 1e-6;  // of a poll that finds nothing
};

/// True if a poll is due; never within `min_s` of the last one. Only polls find messages that ring
/// no doorbell, so they become more frequent as less work remains.
bool poll_is_due(const PollView& view, double min_s);

/// The cost of a poll that finds nothing, after one more sample.
inline double moved_poll_cost_s(double average_s, double sample_s) {
  return moved_average(average_s, sample_s, lending_tuning::kPollCostWeight);
}

/// How many tasks of `task_s` seconds to run before the clock is read again.
std::size_t next_batch(double task_s, std::size_t queued);

/// Results wait to share a message, but not for long, and not on an idle rank.
inline bool results_are_due(bool is_idle, double oldest_s) {
  return is_idle || oldest_s >= lending_tuning::kMaxResultDelay_s;
}

/// How long the progress thread sleeps between polls. Each wake-up takes a core from a task. If
/// idle ranks can wake it, it sleeps long. Otherwise it sleeps for a share of the remaining work,
/// because a thief loses little while much work remains, and between short tasks the other threads
/// poll.
class ProgressSleep {
 public:
  explicit ProgressSleep(double min_s) : min_s_(min_s) {}
  /// `thread_s`: seconds of queued work per thread; `task_s`: of a queued task; 0 without tasks.
  double next_s(bool is_woken, double thread_s, double task_s) const;
  /// Notes whether the poll after the sleep was needed, because no other thread had polled.
  void polled(bool needed);

 private:
  double min_s_, max_s_ = lending_tuning::kMaxProgressSleep_s;
};

/// How long the progress thread ignores wake-ups after one that led to no loan: without it many
/// idle ranks would keep a busy one from work.
class WakeBackoff {
 public:
  /// Returns the seconds to ignore wake-ups after one that led to `loans` loans.
  double after(std::uint64_t loans);

 private:
  double next_s_ = lending_tuning::kMinWakeBackoff_s;
};

}  // namespace poise
