// SPDX-License-Identifier: BSD-3-Clause
// Decisions by all ranks together (Mode::hierarchical; poise/distributed). A rank passes in its own
// objects, and learns which of them leave and which objects arrive.
#pragma once

#include <mpi.h>
#include <string>

#include "runtimes/objects/measurements.h"
#include "runtimes/objects/migration.h"
#include "runtimes/objects/object_directory.h"
#include "runtimes/objects/options.h"

#include "poise/distributed/communicator.h"
#include "poise/machine/machine.h"
#include "poise/strategies/strategy.h"

namespace poise::objects {

struct JointDecision {
  MigrationPlan plan;
  double imbalance_before = 1, imbalance_after = 1;  // the same on all ranks
  std::string trouble;  // why nothing moves, the same on all ranks; empty if the strategy succeeded
};

/// All ranks together decide on which rank each object will run. If each thread is a place, each
/// rank then distributes its objects over its own places, without regard to messages to other
/// ranks.
class JointDecider {
 public:
  /// All arguments must outlive this object. In `ranks`, ranks are numbered in the order of their
  /// places.
  JointDecider(MPI_Comm comm, Communicator& ranks, const ObjectDirectory& directory,
               const CollectionOptions& options, std::uint32_t threads_per_place);

  /// Collective. No object moves if the strategy fails on a rank. A decision that exceeds
  /// `options.budget_s` is discarded; it cannot be interrupted, because ranks wait for each other.
  JointDecision decide(const Measurements& own) const;

 private:
  struct HereAfter;
  JointDecision unchanged(const Measurements& own) const;
  JointDecision decided(const Measurements& own) const;
  std::vector<HereAfter> here_after(const Measurements& own, JointDecision& decision) const;
  void choose_places(const Measurements& own, std::vector<HereAfter>& here) const;
  double imbalance(double background_s, std::span<const HereAfter> here) const;
  double load_s(const ObjectRow& row) const {
    return load_s_of(row, options_.clock == Clock::wall, threads_per_place_);
  }

  MPI_Comm comm_;
  Communicator& ranks_;
  const ObjectDirectory& directory_;
  const JobLayout& layout_;
  const CollectionOptions& options_;
  std::uint32_t threads_per_place_;
  Choice choice_;
  Machine machine_;  // one place per rank
};

}  // namespace poise::objects
