// The part of the runtime that looks at messages while all threads are inside long tasks.
#include <algorithm>
#include <chrono>

#include "runtimes/tasks/runtime.h"
#include "runtimes/tasks/transport/clock.h"

namespace poise::tasks {

namespace {

constexpr double kProgressShare = 0.2;  // of the time for which there are tasks, between two looks
// Of the helper; and when the last time all threads had looked themselves.
constexpr double kMaxProgressSleep_s = 10e-3, kMaxUnneededSleep_s = 40e-3;
// How long it does not hear that it is called, after it was in vain: twice as long each time.
constexpr double kMinWakeBackoff_s = 0.5e-3, kMaxWakeBackoff_s = 8e-3;

}  // namespace

// To wake up takes a core from a task, and idle ranks call where all can. Elsewhere whoever waits
// for an answer loses little while there is much left to do, and between short tasks their threads
// look themselves.
double Runtime::progress_sleep_s(double max_s) const {
  if (engine_->progress_is_woken()) return kMaxUnneededSleep_s;
  const TaskPool::State state = pool_->state();
  if (state.lendable == 0) return std::min(max_s, kMaxProgressSleep_s);
  const double sleep_s = kProgressShare * state.queued_s / (own_threads_ + team_.load());
  const double task_s = state.queued_s / static_cast<double>(state.lendable);
  return task_s < sleep_s ? max_s : std::min(max_s, sleep_s);
}

// Of the helper: how long it does not hear after a call in vain, and how many calls it has heard.
struct Runtime::WakeBackoff {
  double backoff_s = kMinWakeBackoff_s;
  std::uint32_t calls = 0;
};

void Runtime::progress_in_background() {
  const double min_s = settings_["helper_us"] * 1e-6;
  double max_s = kMaxProgressSleep_s;
  WakeBackoff hearing;
  std::unique_lock lock(wait_mutex_);
  for (;;) {
    wait_changed_.wait(lock, [&] { return closing_ || wait_ > done_; });
    if (closing_) return;
    lock.unlock();
    const double sleep_s = std::max(min_s, progress_sleep_s(max_s));
    const bool needed = clock_s() - last_poll_s_.load(std::memory_order_relaxed) >= sleep_s;
    if (needed) progress_in_wait();
    max_s = needed ? kMaxProgressSleep_s : std::min(2 * max_s, kMaxUnneededSleep_s);
    sleep_until_woken(sleep_s, hearing);
    lock.lock();
  }
}

// Sleeps for so long, but looks at once when somebody idle has to wait: our tasks are long. After a
// look in vain they wait for backoff_s, or many who are idle would keep a busy one from work.
// Nobody calls twice, so calls are counted: some come before the system has woken the helper for a
// wait.
void Runtime::sleep_until_woken(double sleep_s, WakeBackoff& hearing) {
  const double until_s = clock_s() + sleep_s;
  for (double now_s = clock_s(); now_s < until_s; now_s = clock_s()) {
    engine_->progress_parker().park(until_s - now_s, [&] {
      return closing_.load() || engine_->progress_wakes() != hearing.calls;
    });
    if (closing_ || clock_s() >= until_s) break;
    hearing.calls = engine_->progress_wakes();
    if (!engine_->has_messages()) continue;
    const auto loans = pool_->counters().loans;
    progress_in_wait();
    if (pool_->counters().loans > loans) {
      hearing.backoff_s = kMinWakeBackoff_s;
      continue;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(hearing.backoff_s));
    hearing.backoff_s = std::min(2 * hearing.backoff_s, kMaxWakeBackoff_s);
  }
}

}  // namespace poise::tasks
