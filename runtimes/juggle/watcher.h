// SPDX-License-Identifier: BSD-3-Clause
// Decides when to scan /proc for new and ended threads. A scan costs more than a balancing point,
// so cheaper checks come first.
#pragma once

#include <cstdint>
#include <optional>

#include "runtimes/juggle/kernel.h"

namespace poise::juggle {

class Watcher {
 public:
  explicit Watcher(Kernel& kernel) : kernel_(kernel) {}

  /// True if it is time to scan /proc for threads. There are three reasons for a scan. First, a
  /// thread has ended. Second, the number of the program's threads has changed. If the program has
  /// few processes, its threads are counted at short intervals; if it has many, only after a
  /// process or thread was created on this host (/proc/loadavg tells this). Third, the interval
  /// between scans is over, and a process or thread was created on this host since the last scan.
  bool is_time_to_scan();

  /// Records that a thread has ended. A scan is then due immediately, because other threads may
  /// have been created at the same time.
  void saw_death() { saw_death_ = true; }

  /// True if a process or thread was created on this host since the last scan, or if that is
  /// unknown.
  bool may_have_births() const;

  Changes scan();

 private:
  Kernel& kernel_;
  bool saw_death_ = false;
  std::optional<std::uint64_t> born_at_scan_;
  double scanned_s_ = -1e9, counted_s_ = 0;
};

}  // namespace poise::juggle
