// SPDX-License-Identifier: BSD-3-Clause
// Decides on a new placement with one of the strategies: on rank 0, on every rank, or by all
// ranks together.
#pragma once

#include <mpi.h>
#include <optional>
#include <string>
#include <vector>

#include "runtimes/balance/run_strategy.h"
#include "runtimes/objects/job_layout.h"
#include "runtimes/objects/joint_decision.h"
#include "runtimes/objects/measurements.h"
#include "runtimes/objects/migration.h"
#include "runtimes/objects/options.h"

#include "poise/strategies/strategy.h"

namespace poise::objects {

/// Returns `options.mode` or, if that is Mode::automatic, the mode that this job uses.
Mode chosen_mode(const JobLayout& layout, const CollectionOptions& options);

/// The result of a decision. Equal on all ranks, except for `plan`, `phase` and `failure`.
struct Decision {
  MigrationPlan plan;
  Placement placement;          // empty in Mode::hierarchical, in which no rank knows all objects
  double imbalance_before = 0;  // as measured
  double imbalance_after = 0;   // as predicted
  // On rank 0, the measurements of all ranks. In Mode::hierarchical, they are gathered only if a
  // trace is recorded.
  std::optional<MeasuredPhase> phase;
  // On rank 0, the reason why no object moves; empty if the strategy succeeded.
  std::string failure;
};

using balance::Outcome;

/// Makes decisions, and stores the loads of past phases for strategies that predict.
class Decider {
 public:
  /// All arguments must outlive this object. `options.mode` must not be Mode::automatic. If it is
  /// Mode::hierarchical, `directory` must be distributed over the ranks.
  Decider(MPI_Comm comm, Communicator& ranks, const ObjectDirectory& directory,
          const CollectionOptions& options, std::uint32_t threads_per_place);

  /// Decides on a placement. Keeps the current placement if the strategy fails, exceeds its time
  /// budget, or returns different placements on different ranks. Collective.
  Decision decide(const Measurements& own);

 private:
  Outcome run(const MeasuredPhase& phase);
  Outcome on_root(const Measurements& own, Decision& decision);
  Outcome on_every_rank(const Measurements& own, Decision& decision);
  Decision by_all_ranks(const Measurements& own) const;
  MeasuredPhase phase_from(const Measurements& all) const;
  void remember(const MeasuredPhase& phase);

  MPI_Comm comm_;
  const ObjectDirectory& directory_;
  const JobLayout& layout_;
  const CollectionOptions& options_;
  std::uint32_t threads_per_place_;
  Choice choice_;
  std::optional<JointDecider> joint_;  // only for Mode::hierarchical
  balance::Overdue overdue_;
  std::vector<std::vector<double>> past_loads_s_;  // indexed by phase, then by task
};

}  // namespace poise::objects
