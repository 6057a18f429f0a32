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

  /// True if it is time to scan /proc for threads. Scans are due at intervals, but a due scan is
  /// skipped if no process or thread was created on this host since the last scan (/proc/loadavg
  /// tells this). A scan is due at once if the number of the program's threads has changed. Threads
  /// of a program with few processes are counted at short intervals. Those of a program with many
  /// processes are counted only after a process or thread was created on this host.
  bool is_time_to_scan();

  /// Records that a thread has ended. A scan is then due at once, because other threads may have
  /// been created at the same time.
  void saw_death() { saw_death_ = true; }

  Changes scan();

 private:
  Kernel& kernel_;
  bool saw_death_ = false;
  std::optional<std::uint64_t> born_at_scan_;
  double scanned_s_ = -1e9, counted_s_ = 0;
};

}  // namespace poise::juggle
