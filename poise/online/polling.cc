// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/polling.h"

#include <algorithm>
#include <utility>

namespace poise {

bool poll_is_due(const PollView& view, double min_s) {
  if (view.since_s < min_s) return false;
  if (view.has_messages) return true;
  const lending_tuning::PollBudget& budget = view.all_notify
                                                 ? lending_tuning::kPollBudgetWithDoorbell
                                                 : lending_tuning::kPollBudgetWithoutDoorbell;
  return view.since_s >=
         std::min(budget.max_work_share * view.remaining_s, view.poll_cost_s / budget.max_share);
}

std::size_t next_batch(double task_s, std::size_t queued) {
  const double few = lending_tuning::kBatchShare * queued;
  return static_cast<std::size_t>(std::clamp<double>(
      std::min(lending_tuning::kBatch_s / task_s, few), 1, lending_tuning::kMaxBatch));
}

double ProgressSleep::next_s(bool is_woken, double thread_s, double task_s) const {
  const auto wanted_s = [&] {
    if (is_woken) return lending_tuning::kMaxUnneededSleep_s;
    if (task_s <= 0) return std::min(max_s_, lending_tuning::kMaxProgressSleep_s);
    const double share_s = lending_tuning::kProgressShare * thread_s;
    return task_s < share_s ? max_s_ : std::min(max_s_, share_s);
  };
  return std::max(min_s_, wanted_s());
}

void ProgressSleep::polled(bool needed) {
  max_s_ = needed ? lending_tuning::kMaxProgressSleep_s
                  : std::min(2 * max_s_, lending_tuning::kMaxUnneededSleep_s);
}

double WakeBackoff::after(std::uint64_t loans) {
  if (loans > 0) {
    next_s_ = lending_tuning::kMinWakeBackoff_s;
    return 0;
  }
  return std::exchange(next_s_, std::min(2 * next_s_, lending_tuning::kMaxWakeBackoff_s));
}

}  // namespace poise
