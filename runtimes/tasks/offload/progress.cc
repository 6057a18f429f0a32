// SPDX-License-Identifier: BSD-3-Clause
// The progress thread of a context, which polls for messages while all other threads run long
// tasks.
#include <chrono>

#include "runtimes/tasks/runtime.h"

#include "poise/base/clock.h"

namespace poise::tasks {

void Runtime::progress_in_background() {
  const double min_s = settings_["progress_us"] * 1e-6;
  WakeBackoff backoff;
  std::uint32_t wakes = 0;
  std::unique_lock lock(wait_mutex_);
  for (;;) {
    wait_changed_.wait(lock, [&] { return closing_ || wait_ > done_; });
    if (closing_) return;
    lock.unlock();
    const TaskPool::State state = pool_->state();
    const double sleep_s =
        progress_sleep_s(min_s, engine_->progress_is_woken(),
                         state.queued_s / (own_threads_ + team_), state.mean_s());
    const double since_s = wall_now_s() - last_poll_s_.load(std::memory_order_relaxed);
    if (since_s >= sleep_s) progress_in_wait();
    sleep_until_woken(sleep_s, backoff, wakes);
    lock.lock();
  }
}

// Sleeps for `sleep_s`, but polls whenever an idle rank wakes this thread. An idle rank wakes this
// thread only once, perhaps while this thread is still awake, so wake-ups are counted. One poll may
// not be enough: MPI might not have delivered the announced message yet, another thread may just
// have polled, or the last decision about loans may be too recent. Then this thread polls again, at
// growing intervals.
void Runtime::sleep_until_woken(double sleep_s, WakeBackoff& backoff, std::uint32_t& wakes) {
  Doorbells& doorbells = engine_->doorbells();
  const double until_s = wall_now_s() + sleep_s;
  bool is_unanswered = false;
  const auto has_request = [&] {
    return engine_->has_messages() || engine_->is_request_undecided();
  };
  for (double now_s = wall_now_s(); now_s < until_s; now_s = wall_now_s()) {
    doorbells.progress_parker().park(until_s - now_s, [&] {
      return closing_.load() || is_unanswered || doorbells.progress_wakes() != wakes;
    });
    if (closing_ || wall_now_s() >= until_s) break;
    wakes = doorbells.progress_wakes();
    is_unanswered = has_request();
    if (!is_unanswered) continue;
    const auto loans = pool_->counters().loans;
    progress_in_wait();
    const double ignore_s = backoff.after(pool_->counters().loans - loans);
    std::this_thread::sleep_for(std::chrono::duration<double>(ignore_s));
    is_unanswered = has_request();
  }
}

}  // namespace poise::tasks
