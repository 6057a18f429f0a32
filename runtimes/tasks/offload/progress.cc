// SPDX-License-Identifier: BSD-3-Clause
// The progress thread of a context, which polls for messages while all other threads run long
// tasks.
#include <algorithm>
#include <chrono>

#include "runtimes/tasks/runtime.h"
#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/tuning.h"

namespace poise::tasks {

// How long to sleep, in seconds. Each wake-up takes a core from a task. If idle ranks can wake this
// thread, it sleeps long. Otherwise it sleeps for a share of the remaining work, because a thief
// loses little while much work remains, and between short tasks the other threads poll.
double Runtime::progress_sleep_s(double max_s) const {
  if (engine_->progress_is_woken()) return tuning::kMaxUnneededSleep_s;
  const TaskPool::State state = pool_->state();
  if (state.lendable == 0) return std::min(max_s, tuning::kMaxProgressSleep_s);
  const double sleep_s = tuning::kProgressShare * state.queued_s / (own_threads_ + team_.load());
  const double task_s = state.queued_s / static_cast<double>(state.lendable);
  return task_s < sleep_s ? max_s : std::min(max_s, sleep_s);
}

// How long to ignore wake-ups after one that led to no loan, and how many wake-ups have been seen.
struct Runtime::WakeBackoff {
  double backoff_s = tuning::kMinWakeBackoff_s;
  std::uint32_t count = 0;
};

void Runtime::progress_in_background() {
  const double min_s = settings_["progress_us"] * 1e-6;
  double max_s = tuning::kMaxProgressSleep_s;
  WakeBackoff wake;
  std::unique_lock lock(wait_mutex_);
  for (;;) {
    wait_changed_.wait(lock, [&] { return closing_ || wait_ > done_; });
    if (closing_) return;
    lock.unlock();
    const double sleep_s = std::max(min_s, progress_sleep_s(max_s));
    const bool needed = clock_s() - last_poll_s_.load(std::memory_order_relaxed) >= sleep_s;
    if (needed) progress_in_wait();
    max_s = needed ? tuning::kMaxProgressSleep_s : std::min(2 * max_s, tuning::kMaxUnneededSleep_s);
    sleep_until_woken(sleep_s, wake);
    lock.lock();
  }
}

// Sleeps for `sleep_s`, but polls as soon as an idle rank wakes it. After a poll that led to no
// loan it ignores wake-ups for `backoff_s`, or many idle ranks would keep a busy one from work.
// Wake-ups are counted, because a thief sends only one, perhaps before this thread sleeps.
void Runtime::sleep_until_woken(double sleep_s, WakeBackoff& wake) {
  const double until_s = clock_s() + sleep_s;
  for (double now_s = clock_s(); now_s < until_s; now_s = clock_s()) {
    engine_->progress_parker().park(until_s - now_s, [&] {
      return closing_.load() || engine_->progress_wakes() != wake.count;
    });
    if (closing_ || clock_s() >= until_s) break;
    wake.count = engine_->progress_wakes();
    if (!engine_->has_messages()) continue;
    const auto loans = pool_->counters().loans;
    progress_in_wait();
    if (pool_->counters().loans > loans) {
      wake.backoff_s = tuning::kMinWakeBackoff_s;
      continue;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(wake.backoff_s));
    wake.backoff_s = std::min(2 * wake.backoff_s, tuning::kMaxWakeBackoff_s);
  }
}

}  // namespace poise::tasks
