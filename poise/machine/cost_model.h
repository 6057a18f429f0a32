// What messages and migrations cost on a machine, in seconds. The formulas that use these figures
// are in placement/metrics.h; the figures belong to the machine because they are measured on it.
#pragma once

namespace poise {

struct CostModel {
  /// Seconds per message and unit of latency factor: NucoLB's alpha (paper 000, section V-C).
  double seconds_per_message = 1e-5;
  /// Seconds per byte and unit of bandwidth factor.
  double seconds_per_byte = 0;
  /// Seconds per byte of a migrated task.
  double seconds_per_migrated_byte = 1e-9;
};

}  // namespace poise
