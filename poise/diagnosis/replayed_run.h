// SPDX-License-Identifier: BSD-3-Clause
// Replays phases of a profiled run with the event engine of `poise simulate`
// (simulate/iteration.h), to predict the run's time with other loads or with another placement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/diagnosis/measured_run.h"
#include "poise/placement/placement.h"
#include "poise/simulate/traffic.h"
#include "poise/trace/trace.h"

namespace poise {

using RankLoads = std::vector<std::vector<double>>;  // seconds, indexed by phase, then by rank

/// A phase of a profile often contains many iterations of the program. The engine simulates one of
/// them, with one iteration's share of the work and of each message.
///
/// A profile says how long messages took, but not how fast the network is. Therefore the engine
/// multiplies the costs of messages by a factor, chosen such that messages take as long as in the
/// run. If the ranks are on several nodes, the factor applies only to messages between nodes;
/// otherwise it applies to all.
class ReplayedRun {
 public:
  /// Keeps references to both arguments. `trace` must have a machine.
  ReplayedRun(const MeasuredRun& run, const Trace& trace);

  /// False if a node has more ranks than cores. Then it is unknown which ranks of a core spin while
  /// they wait, so times_s() cannot tell how long a phase takes.
  bool is_possible() const { return !own_place_.empty(); }

  /// The phases that the engine simulates: evenly spaced, and few if they have many messages.
  std::span<const std::size_t> phases() const { return phases_; }

  /// Estimates how many iterations of the program a phase contains: the number of messages that one
  /// rank sends to another, as a median over the pairs of ranks; 1 without messages.
  double iterations_of(std::size_t phase) const;

  /// Gives each rank a place of its own on its node: the rank's place in the last phase, or a free
  /// place if another rank has taken the rank's place. O(places).
  Placement own_places() const { return Placement(own_place_); }

  /// Returns the factor on message costs for which the simulated phases together take `exposed_s`
  /// longer than the work of their busiest ranks, if the ranks have the loads `loads_s`. Returns 0
  /// if even with the smallest factor the phases take more than `exposed_s` longer. Returns 1 if
  /// there are no messages to which the factor applies.
  double factor_for(const RankLoads& loads_s, double exposed_s) const;

  /// The predicted seconds of each simulated phase, for the loads `loads_s` of all phases of the
  /// run. O(simulated phases * messages log messages).
  std::vector<double> times_s(const RankLoads& loads_s, const Placement& placement,
                              double factor) const;

  /// The predicted seconds of each simulated phase if `poise juggle` moves the ranks between cores
  /// in each iteration of the phase (simulate/threads.h). Ranks begin where they ran and share
  /// cores fairly. Messages take no time.
  std::vector<double> juggled_times_s() const;

 private:
  double phase_s(std::size_t phase, std::span<const double> loads_s, const Placement& placement,
                 double factor) const;
  CostModel costs_times(double factor) const;

  const MeasuredRun& run_;
  const Trace& trace_;
  std::vector<PlaceId> own_place_;  // per rank
  std::vector<std::size_t> phases_;
  bool has_nodes_ = false;          // the ranks are on several nodes
  bool has_slow_messages_ = false;  // the run has messages to which the factor applies
};

/// Extrapolates `values` of the simulated phases to a sum over all phases (ratio estimator:
/// Cochran, Sampling Techniques, 1977, chapter 6). `estimates` has an entry per phase of the run;
/// the values are assumed to be proportional to the estimates, apart from random deviations. The
/// half width covers these deviations in the phases that are not simulated. Returns 0 if the
/// estimates of the simulated phases add up to 0.
Seconds sum_over_run(std::span<const double> values, std::span<const std::size_t> simulated,
                     std::span<const double> estimates);

}  // namespace poise
