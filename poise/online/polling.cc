// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/polling.h"

#include <algorithm>
#include <utility>

namespace poise {

bool poll_is_due(const PollView& view, double min_s) {
  if (view.since_s < min_s) return false;
  if (view.has_messages) return true;
  const double cheap_s = view.poll_cost_s / lending_tuning::kWastedShare;
  if (view.all_notify) return view.since_s >= std::max(lending_tuning::kMaxPause_s, cheap_s);
  return view.since_s >= std::min(lending_tuning::kWorkShare * view.remaining_s, cheap_s);
}

std::size_t next_batch(double task_s, std::size_t queued) {
  const double few = lending_tuning::kWorkShare * queued;
  return static_cast<std::size_t>(std::clamp<double>(
      std::min(lending_tuning::kNewsDelay_s / task_s, few), 1, lending_tuning::kMaxAtOnce));
}

double progress_sleep_s(double min_s, bool is_woken, double thread_s, double task_s) {
  const double share_s = lending_tuning::kWorkShare * thread_s;
  const bool may_be_long = is_woken || task_s <= 0 || task_s < share_s;
  const double max_s = lending_tuning::kMaxSleep_s;
  return std::max(min_s, may_be_long ? max_s : std::min(share_s, max_s));
}

double WakeBackoff::after(std::uint64_t loans) {
  if (loans > 0) {
    next_s_ = lending_tuning::kNewsDelay_s;
    return 0;
  }
  return std::exchange(next_s_, std::min(2 * next_s_, lending_tuning::kMaxSleep_s));
}

}  // namespace poise
