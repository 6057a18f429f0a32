// Decides when to scan /proc for new and dead threads. A scan costs more than a balancing point, so
// cheaper signs are checked first.
#pragma once

#include <cstdint>
#include <optional>

#include "runtimes/juggle/kernel.h"

namespace poise::juggle {

class Watcher {
 public:
  explicit Watcher(Kernel& kernel) : kernel_(kernel) {}

  /// Whether to search now. In a program of a few processes a thread that is new or dead is seen by
  /// a count; before many are counted, and before a walk, one short read tells whether anything was
  /// born on this host.
  bool is_time_to_scan();

  /// A thread was found dead: others may have come in its place.
  void saw_death() { saw_death_ = true; }

  Changes scan();

 private:
  Kernel& kernel_;
  bool saw_death_ = false;
  std::optional<std::uint64_t> born_at_scan_;
  double scanned_s_ = -1e9, counted_s_ = 0;
};

}  // namespace poise::juggle
