// SPDX-License-Identifier: BSD-3-Clause
// What an offload policy is, and the table of all policies (base/offload_policies.h lists them).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "poise/online/lending.h"
#include "poise/online/link_model.h"
#include "poise/online/offload_counts.h"
#include "poise/online/task_overhead.h"

namespace poise {

/// The content of a rank's queue at the time of a decision.
struct QueueState {
  std::size_t queued = 0, lendable = 0, running = 0;  // tasks
  // Expected seconds of lendable tasks, excluding tasks of unknown time.
  double queued_s = 0;
  double running_s = 0;  // expected remaining seconds of running tasks, summed over threads
  // Seconds by which the times of this rank's tasks typically deviate from their expected times:
  // the sum over lendable tasks, and the sum over running tasks.
  double queued_deviation_s = 0, running_deviation_s = 0;
  bool all_times_known = true;  // the times of all lendable tasks are known
  bool all_borrowed = false;    // all lendable tasks came from other ranks
  double ran_s = 0;             // expected seconds of the task that ran last; 0: none, or unknown
  std::uint64_t ran = 0;        // tasks that this rank has run so far
  // True if tasks differ in cost, or if the times of their functions differ by more than the factor
  // kSimilar.
  bool tasks_differ = false;
  double bytes_out = 0;      // bytes sent if all lendable tasks are lent
  double bytes_both = 0;     // bytes of the lendable tasks and of their results
  TaskOverhead finishing{};  // CPU time to finish tasks that other ranks ran

  double mean_s() const { return lendable > 0 ? queued_s / lendable : 0; }
  double mean_deviation_s() const { return lendable > 0 ? queued_deviation_s / lendable : 0; }
  double mean_bytes() const { return lendable > 0 ? bytes_both / lendable : 0; }
};

/// What a rank has learnt about the cost of lending.
///
/// | learnt | from |
/// |---|---|
/// | packing, unpacking: seconds per task, per byte | the time that this rank takes for them |
/// | latency, seconds per byte of each group of ranks | steal requests and answers; payloads |
/// | slowness of a rank, least slowness | measured / expected run times of returned tasks |
struct LendingCosts {
  TaskOverhead packing, unpacking;
  LinkModel links;
  RobustMin least_slowness{0};  // among ranks that have returned results; 0: none has

  /// Returns a guess for ranks that have returned no result: they are as fast as this rank, unless
  /// all ranks that have returned results are slower.
  double guessed_slowness() const { return std::max(1.0, least_slowness.value()); }
  /// CPU seconds that one lent task costs this rank: packing, unpacking its result, finishing it.
  double overhead_s(const QueueState& queue, double bytes) const {
    return packing.seconds(bytes) + unpacking.seconds(bytes) + queue.finishing.seconds(bytes);
  }
};

/// The input of a decision: the LendingView, and what is known about each borrower in it.
struct LoanProblem {
  struct Known {
    double queued = 0;  // number of lendable tasks, as the rank last reported
    std::uint32_t in_flight = 0;
  };
  std::vector<Borrower> others;  // nearest first
  std::vector<Known> known;      // known[i] belongs to others[i]
  LendingView view;              // view.others refers to the member `others`
};

/// The input from which an offload policy decides.
struct LoanQuestion {
  const LoanProblem& problem;
  const QueueState& queue;
  const LendingCosts& costs;
  double now_s = 0;
  double min_gain = 0.1;  // fraction by which loans must shorten the wait
  CountThresholds thresholds = {};
  /// Returns a list of the lendable tasks, which takes time proportional to their number.
  const std::function<std::vector<QueuedTask>()>& named_queue;
};

/// What a policy keeps from one decision to the next.
struct OffloadMemory {
  double next_exploration_s = 0;     // no exploration is considered before this time
  std::optional<double> explored_s;  // time of the last exploration or else of the first decision
};

struct OffloadPolicy {
  /// Which other ranks the policy gets to see. With `nearest_idle` it sees all ranks that have
  /// requested tasks and, of the others, the lending_tuning::kMaxCandidates ranks that will be idle
  /// soonest.
  enum class Sight : std::uint8_t { nothing, nearest_idle, all_ranks };
  std::string_view name;
  Sight sight;
  /// Returns the loans. Changes nothing but `memory`. Called only if the policy sees some rank.
  std::vector<Loan> (*loans)(const LoanQuestion& question, OffloadMemory& memory);
};

std::span<const OffloadPolicy> offload_policies();

/// Throws Error if no policy has this name.
const OffloadPolicy& offload_policy(std::string_view name);

}  // namespace poise
