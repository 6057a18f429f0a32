// SPDX-License-Identifier: BSD-3-Clause
// Decides how often a rank polls for messages, how many tasks it runs in between, how long its
// progress thread sleeps, and when results are sent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "poise/online/lending_tuning.h"
#include "poise/online/moving_average.h"

namespace poise {

/// The data from which a busy thread decides whether to poll.
struct PollView {
  double since_s = 0;  // seconds since the last poll
  /// True if another rank has announced a message (doorbell), or a transfer is in flight.
  bool has_messages = false;
  bool all_notify = false;    // every message except gossip rings the doorbell
  double remaining_s = 0;     // run time of all tasks in the queue
  double poll_cost_s = 1e-6;  // seconds for a poll that finds nothing
};

/// True if a poll is due; never if the last poll was less than `min_s` ago. Some messages arrive
/// without a notification (doorbell), so only polls find them. The less work remains, the more a
/// message that is found late delays the ranks, and the more frequent polls become.
bool poll_is_due(const PollView& view, double min_s);

/// Updates the average cost of polls that find nothing, by one more measurement. Returns the new
/// average.
inline double moved_poll_cost_s(double average_s, double sample_s) {
  return moved_average(average_s, sample_s, lending_tuning::kMaxWeight);
}

/// Returns how many tasks of `task_s` seconds to run before the clock is read again.
std::size_t next_batch(double task_s, std::size_t queued);

/// True if results are to be sent now. Otherwise they wait for further results that can travel in
/// the same message. An idle rank sends its results immediately. Even if this function returns
/// true, HeldResults may hold results until the owner of the tasks has confirmed the previous
/// message.
inline bool results_are_due(bool is_idle, double oldest_s) {
  return is_idle || oldest_s >= lending_tuning::kNewsDelay_s;
}

/// Returns the seconds for which the progress thread sleeps between two polls, at least min_s. Each
/// time it wakes up, it takes a core from a task. It may sleep for a long time if idle ranks can
/// wake it (`is_woken`), or if tasks are short, because then the threads that run tasks poll often.
/// Otherwise it sleeps for a fraction of the time that the remaining work takes, because a late
/// answer costs a thief little while much work remains. `thread_s` is the queued work per thread in
/// seconds. `task_s` is the run time of a queued task, or 0 if no task is queued.
double progress_sleep_s(double min_s, bool is_woken, double thread_s, double task_s);

/// Decides how long the progress thread ignores wake-ups after a wake-up that led to no loan. If
/// all wake-ups were heeded, many idle ranks would keep a busy rank from working.
class WakeBackoff {
 public:
  /// Returns for how many seconds the next wake-ups are ignored after a wake-up that led to `loans`
  /// loans.
  double after(std::uint64_t loans);

 private:
  double next_s_ = lending_tuning::kNewsDelay_s;
};

}  // namespace poise
