// Steps whose places do not wait for one another, only for messages: a closer look than the
// formula, which adds work and communication and ends every step with a barrier.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// The clocks of all places, step after step.
///
/// A place runs its background load and then its tasks of a step one after another, in the order in
/// which they are ready (then by number), and begins the next step when it has finished this one. A
/// task sends all its messages of a step when it ends. They travel at once, side by side, each for
/// its message_s (metrics.h), without taking time of either place; a task is ready when the
/// messages sent to it in the step before have arrived. As long as phases repeat, no step ends
/// later than by the formula.
class OverlapClocks {
 public:
  explicit OverlapClocks(std::uint32_t num_places) : place_s_(num_places, 0) {}

  /// Runs one step and returns the second at which its last task ends. Tasks must be those of the
  /// step before, unless that one was followed by forget_messages. O(tasks log tasks + messages).
  double run_step(const Machine& machine, const Workload& workload, const CostModel& costs,
                  const Placement& placement);

  /// All places wait for the last one, and then for `seconds`, as for a decision and migrations.
  void synchronise(double seconds);

  /// Messages under way are for tasks that do not exist any more.
  void forget_messages() { ready_s_.clear(); }

  double now_s() const;

 private:
  std::vector<double> place_s_;  // when the place has finished its last step
  std::vector<double> ready_s_;  // per task of the next step; empty: at once
};

}  // namespace poise
