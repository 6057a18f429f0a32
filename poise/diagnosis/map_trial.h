// SPDX-License-Identifier: BSD-3-Clause
// Tries a map of ranks in several runs of a program: decides how the next run starts, and whether
// the map helps. The decision depends only on the history of the runs.
#pragma once

#include <cstdint>
#include <vector>

namespace poise {

/// The way in which a run starts its ranks.
enum class RunKind : std::uint8_t {
  profiled,   // the launcher chose the places of the ranks, and the profiling library was loaded
  own_order,  // the launcher chose the places of the ranks
  mapped      // the map gave the places of the ranks
};

struct TimedRun {
  RunKind kind = RunKind::own_order;
  double seconds = 0;  // time from the start of the launcher to its end
};

/// The runs of a program so far, from which next_run() decides how the next run starts.
struct MapHistory {
  bool has_map = false;             // a diagnosis proposed a map
  bool map_failed = false;          // a run with the map ended with an error
  double predicted = 0;             // predicted fraction of the run time that the map saves
  std::vector<TimedRun> runs = {};  // the runs that succeeded, oldest first
};

enum class TrialState : std::uint8_t {
  unprofiled,  // no run has been profiled yet
  no_gain,     // the diagnosis promises a gain that is too small for a trial
  noise,       // run times vary by more than the promised gain
  running,     // the trial is not finished
  kept,        // the map is faster
  dropped,     // the map is not faster, or not by more than the noise
  failed       // a run with the map ended with an error; the map is not tried again
};

struct NextRun {
  RunKind kind = RunKind::profiled;
  TrialState state = TrialState::unprofiled;
  std::uint32_t pairs = 0;   // number of compared pairs of runs, one with the map and one without
  double gain = 0;           // fraction of the time that the map saves; negative: runs take longer
  double low = 0, high = 0;  // ends of the gain's confidence interval; 0 if pairs < kMinPairs
  double noise = 0;          // standard deviation of run times / their mean; 0 if unknown
};

/// Decides how the next run starts. The k-th run with the map and the k-th run without it (the
/// launcher orders the ranks) are a pair. Every second pair begins with the map, so that a gradual
/// change of the machine's speed favours neither kind of run. After each pair, Student's confidence
/// interval is computed for the mean of log(time of the mapped run / time of the other run). The
/// map is kept as soon as the whole interval is above zero gain. It is dropped as soon as the whole
/// interval is below the smallest gain worth keeping, or after kMaxPairs pairs. Keeping or dropping
/// the map ends the trial. The level of the interval is such that at most 5 % of trials end wrongly
/// although there are several tests (Bonferroni). The noise is the standard deviation of the times
/// of runs in the launcher's order, computed from successive differences (von Neumann, 1941).
/// O(runs + pairs^2). Throws Error if a time is not between 0 and 1e9 s.
NextRun next_run(const MapHistory& history);

}  // namespace poise
