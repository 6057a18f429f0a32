// SPDX-License-Identifier: BSD-3-Clause
// Simulates steps without barriers, in which places wait only for messages. This is more precise
// than the formula of metrics.h, which adds work and communication and ends every step with a
// barrier.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// The clocks of all places, step by step. In each step a place runs its background load, then its
/// tasks one after another in the order in which they become ready (ties: by task ID). Then it
/// begins the next step. A task sends all its messages of a step when it ends. Messages travel in
/// parallel and keep neither place busy. A task is ready when all messages sent to it in the
/// previous step have arrived. If all steps are equal, no step ends later than the formula of
/// metrics.h predicts. The messages that are sent in the last step
/// are not counted in the time of any step.
///
/// Under the formula `nuco` a message takes message_s() seconds (metrics.h). Under `physical` it
/// takes the time at its two ends (unless the loads include that time) plus the time on its way.
/// The program hides the share workload.overlap of the time on the way behind computation: the
/// message arrives as if it had left earlier by this part of the time, but not before the sender's
/// place began the step.
class OverlapClocks {
 public:
  explicit OverlapClocks(std::uint32_t num_places) : place_s_(num_places, 0) {}

  /// Simulates one step and returns the time at which its last task ends. The tasks must be those
  /// of the previous step unless forget_messages() was called in between. O(tasks log tasks +
  /// messages).
  double run_step(const Machine& machine, const Workload& workload, const CostModel& costs,
                  const Placement& placement);

  /// Makes all places wait for the last place, and then for the `seconds` that a decision and its
  /// migrations take.
  void synchronise(double seconds);

  /// Drops messages in flight, because their tasks no longer exist.
  void forget_messages() { ready_s_.clear(); }

  double now_s() const;

 private:
  std::vector<double> place_s_;  // per place: when it finished its last step
  std::vector<double> ready_s_;  // time at which each task of the next step is ready; empty: 0 s
};

}  // namespace poise
