// The part of the runtime that looks at messages while all threads are inside long tasks.
#include <algorithm>
#include <chrono>

#include "runtimes/tasks/runtime.h"
#include "runtimes/tasks/transport/clock.h"

namespace poise::tasks {

namespace {

constexpr double kHelperShare = 0.2;  // of the time for which there are tasks, between two looks
// Of the helper; and when the last time all threads had looked themselves.
constexpr double kLongestNap_s = 10e-3, kLongestUnneededNap_s = 40e-3;
// How long it does not hear that it is called, after it was in vain: twice as long each time.
constexpr double kDeaf_s = 0.5e-3, kLongestDeaf_s = 8e-3;

}  // namespace

// To wake up takes a core from a task, and idle ranks call where all can. Elsewhere whoever waits
// for an answer loses little while there is much left to do, and between short tasks their threads
// look themselves.
double Runtime::helper_nap_s(double longest_s) const {
  if (exchange_->is_called()) return kLongestUnneededNap_s;
  const Workplace::State state = workplace_->state();
  if (state.lendable == 0) return std::min(longest_s, kLongestNap_s);
  const double nap_s = kHelperShare * state.queued_s / (own_threads_ + team_.load());
  const double task_s = state.queued_s / static_cast<double>(state.lendable);
  return task_s < nap_s ? longest_s : std::min(longest_s, nap_s);
}

// Of the helper: how long it does not hear after a call in vain, and how many calls it has heard.
struct Runtime::Hearing {
  double deaf_s = kDeaf_s;
  std::uint32_t calls = 0;
};

void Runtime::help_in_background() {
  const double shortest_s = settings_["helper_us"] * 1e-6;
  double longest_s = kLongestNap_s;
  Hearing hearing;
  std::unique_lock lock(wait_mutex_);
  for (;;) {
    wait_changed_.wait(lock, [&] { return closing_ || wait_ > done_; });
    if (closing_) return;
    lock.unlock();
    const double nap_s = std::max(shortest_s, helper_nap_s(longest_s));
    const bool needed = clock_s() - last_look_s_.load(std::memory_order_relaxed) >= nap_s;
    if (needed) progress_in_wait();
    longest_s = needed ? kLongestNap_s : std::min(2 * longest_s, kLongestUnneededNap_s);
    nap_until_called(nap_s, hearing);
    lock.lock();
  }
}

// Sleeps for so long, but looks at once when somebody idle has to wait: our tasks are long. After a
// look in vain they wait for deaf_s, or many who are idle would keep a busy one from work. Nobody
// calls twice, so calls are counted: some come before the system has woken the helper for a wait.
void Runtime::nap_until_called(double nap_s, Hearing& hearing) {
  const double until_s = clock_s() + nap_s;
  for (double now_s = clock_s(); now_s < until_s; now_s = clock_s()) {
    exchange_->called().sleep(
        until_s - now_s, [&] { return closing_.load() || exchange_->calls() != hearing.calls; });
    if (closing_ || clock_s() >= until_s) break;
    hearing.calls = exchange_->calls();
    if (!exchange_->has_mail()) continue;
    const auto loans = workplace_->counters().loans;
    progress_in_wait();
    if (workplace_->counters().loans > loans) {
      hearing.deaf_s = kDeaf_s;
      continue;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(hearing.deaf_s));
    hearing.deaf_s = std::min(2 * hearing.deaf_s, kLongestDeaf_s);
  }
}

}  // namespace poise::tasks
