// Seconds that messages and migrations cost on a machine. The formulas that use these numbers are
// in placement/metrics.h; the numbers belong to the machine because they are measured on it.
#pragma once

namespace poise {

struct CostModel {
  /// Seconds per message and unit of latency factor: alpha of NucoLB (Pilla et al., "A Hierarchical
  /// Approach for Load Balancing on Parallel Multi-core Systems", ICPP 2012, section V-C).
  double seconds_per_message = 1e-5;
  /// Seconds per byte and unit of bandwidth factor.
  double seconds_per_byte = 0;
  /// Seconds per byte of a migrated task.
  double seconds_per_migrated_byte = 1e-9;
};

}  // namespace poise
