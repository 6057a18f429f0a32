// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/watcher.h"

#include <algorithm>

#include "runtimes/juggle/tuning.h"

namespace poise::juggle {

bool Watcher::is_time_to_scan() {
  const double now_s = kernel_.now_s();
  const bool is_due = now_s - scanned_s_ >= kTuning.scan_interval_s(now_s);
  if (saw_death_) return true;
  const bool has_few = kernel_.num_processes() <= kTuning.max_counted_processes;
  if (has_few && now_s - counted_s_ >= std::min(kTuning.count_share * now_s, kTuning.check_s / 2)) {
    counted_s_ = now_s;
    if (kernel_.has_changed()) return true;
  }
  if (has_few && !is_due) return false;
  if (may_have_births()) return is_due || kernel_.has_changed();
  if (has_few) scanned_s_ = now_s;  // no new thread, so no scan is due for another interval
  return false;
}

bool Watcher::may_have_births() const {
  const auto born = kernel_.last_born();
  return !born || born != born_at_scan_;
}

Changes Watcher::scan() {
  saw_death_ = false;
  // last_born() is read before the scan, so that a thread created during the scan causes another
  // scan.
  born_at_scan_ = kernel_.last_born();
  Changes changes = kernel_.scan();
  scanned_s_ = kernel_.now_s();
  return changes;
}

}  // namespace poise::juggle
