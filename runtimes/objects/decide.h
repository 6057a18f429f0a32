// SPDX-License-Identifier: BSD-3-Clause
// Decides on a new placement with one of the strategies: on rank 0, on all ranks, or in two levels.
#pragma once

#include <mpi.h>
#include <optional>
#include <string>
#include <vector>

#include "runtimes/balance/run_strategy.h"
#include "runtimes/objects/job_layout.h"
#include "runtimes/objects/measurements.h"
#include "runtimes/objects/options.h"

#include "poise/strategies/strategy.h"

namespace poise::objects {

/// The result of a decision. Equal on all ranks, except for `phase` and `failure`.
struct Decision {
  Placement placement;
  double imbalance_before = 0;         // as measured
  double imbalance_after = 0;          // as predicted
  std::optional<MeasuredPhase> phase;  // on rank 0: the input of the decision
  // On rank 0, the reason why the strategy failed, so that no object moves; empty if it succeeded.
  std::string failure;
};

using balance::Outcome;

/// Makes decisions, and stores the loads of past phases for strategies that predict.
class Decider {
 public:
  /// Collective. `comm` and `layout` must outlive this object.
  Decider(MPI_Comm comm, const JobLayout& layout, const Options& options, ObjectId num_objects,
          std::uint32_t threads_per_place);
  ~Decider();
  Decider(const Decider&) = delete;
  Decider& operator=(const Decider&) = delete;

  /// Decides on a placement. Keeps the current placement if the strategy fails, exceeds its time
  /// budget, or returns different placements on different ranks. Collective.
  Decision decide(const Measurements& own);

  Mode mode() const { return mode_; }

 private:
  Outcome run(const Machine& machine, const MeasuredPhase& phase) const;
  Outcome on_root(const Measurements& own, Decision& decision);
  Outcome on_every_rank(const Measurements& own, Decision& decision);
  Outcome in_two_levels(const Measurements& own, Decision& decision);
  Outcome among_hosts(const MeasuredPhase& phase) const;
  Outcome within_host(const MeasuredPhase& phase, const Placement& host_of_task,
                      std::vector<TaskId>& tasks) const;
  MeasuredPhase phase_from(const Measurements& all) const;
  void remember(const MeasuredPhase& phase);

  MPI_Comm comm_;
  MPI_Comm host_ = MPI_COMM_NULL;     // the ranks of this host; only for Mode::hierarchical
  MPI_Comm leaders_ = MPI_COMM_NULL;  // one rank per host; only on those ranks
  const JobLayout& layout_;
  const Options& options_;
  ObjectId num_objects_;
  std::uint32_t threads_per_place_;
  Choice choice_;
  Mode mode_;                                      // never Mode::automatic
  std::vector<std::vector<double>> past_loads_s_;  // indexed by phase, then by task
};

}  // namespace poise::objects
