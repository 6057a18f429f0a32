// SPDX-License-Identifier: BSD-3-Clause
// Measures loads and waiting times of a rank, for the whole run and since the last decision.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/objects/local_objects.h"

namespace poise::objects {

/// Times of one rank, in seconds. An object's load is the time that its steps take, measured by
/// CollectionOptions::clock.
struct RankTimes {
  std::uint64_t steps = 0;
  double wall_s = 0;        // time in steps; for the whole run, time in steps and in balancing
  double own_load_s = 0;    // load of the objects that live on this rank, wherever their steps ran
  double run_load_s = 0;    // load of the steps that ran on this rank, for own and borrowed objects
  double background_s = 0;  // CPU time outside of objects
  double idle_s = 0;        // time spent waiting for other ranks
};

class Meter {
 public:
  const RankTimes& run() const { return run_; }
  const RankTimes& phase() const { return phase_; }
  /// Returns the number of completed steps. The reference stays valid as long as the meter exists.
  const std::uint64_t& num_steps() const { return run_.steps; }

  /// The index of the current step's subphase (CollectionOptions::subphase_of_step).
  /// num_subphases() is 0 until a step with a subphase has begun.
  std::uint32_t subphase() const { return subphase_; }
  std::uint32_t num_subphases() const { return num_subphases_; }
  /// Begins a step of this subphase. Throws Error if `subphase` is not below kMaxSubphases.
  void enter_subphase(std::uint32_t subphase, LocalObjects& objects);
  /// Adds the time of one step of an object.
  void add_step(LocalObject& object, double load_s, double wall_s) const;

  void add_load(double own_s, double run_s);
  void add_background(double seconds) { phase_.background_s += seconds; }
  void add_idle(double seconds);
  void add_balancing(double wall_s) { run_.wall_s += wall_s; }
  void end_step(double wall_s);

  /// Begins a new phase by resetting what was measured since the last decision.
  void begin_phase(LocalObjects& objects);

  /// Returns the seconds for which this rank was busy since the last decision: its background work
  /// plus the load of its objects per thread. Returns one value per subphase if the program has
  /// subphases, otherwise one value. If each thread is a place, every value is that of the rank's
  /// busiest place, and the background work of the rank counts as work of its first place.
  std::vector<double> busy_s(const LocalObjects& objects, int num_threads) const;

 private:
  std::vector<double> busiest_place_s(const LocalObjects& objects) const;

  RankTimes run_, phase_;
  std::uint32_t subphase_ = 0, num_subphases_ = 0;
};

}  // namespace poise::objects
