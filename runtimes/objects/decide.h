// Asks poise for a placement: at one rank, at all of them, or host by host.
#pragma once

#include <mpi.h>
#include <optional>
#include <string>
#include <vector>

#include "runtimes/balance/run_strategy.h"
#include "runtimes/objects/measurements.h"
#include "runtimes/objects/options.h"
#include "runtimes/objects/world.h"

#include "poise/strategies/strategy.h"

namespace poise::objects {

/// What came of a decision, the same on every rank but for `census`.
struct Decision {
  Placement placement;
  double imbalance_before = 0, imbalance_after = 0;  // the latter as predicted
  double decision_s = 0;
  std::optional<MeasuredPhase> phase;  // at rank 0: what it was made from
  std::string trouble;  // at rank 0: why the placement is the current one; empty: all went well
};

using balance::Outcome;

/// Keeps what strategies that predict want to know of the past.
class Decider {
 public:
  /// `comm` and `world` must outlive it. Collective.
  Decider(MPI_Comm comm, const World& world, const Options& options, ObjectId num_objects,
          std::uint32_t threads_per_place);
  ~Decider();
  Decider(const Decider&) = delete;
  Decider& operator=(const Decider&) = delete;

  /// Collective. A strategy that fails, takes longer than its budget, or answers differently on
  /// different ranks keeps the current placement.
  Decision decide(const Measurements& own);

  Mode mode() const { return mode_; }

 private:
  Outcome ask(const Machine& machine, const MeasuredPhase& census) const;
  Outcome at_root(const Measurements& own, Decision& decision);
  Outcome everywhere(const Measurements& own, Decision& decision);
  Outcome by_hosts(const Measurements& own, Decision& decision);
  Outcome among_hosts(const MeasuredPhase& census) const;
  Outcome inside_host(const MeasuredPhase& census, const Placement& host_of_task,
                      std::vector<TaskId>& tasks) const;
  MeasuredPhase census(const Measurements& all) const;
  void remember(const MeasuredPhase& census);

  MPI_Comm comm_;
  MPI_Comm host_ = MPI_COMM_NULL, leaders_ = MPI_COMM_NULL;  // where hosts decide
  const World& world_;
  const Options& options_;
  ObjectId num_objects_;
  std::uint32_t threads_per_place_;
  Choice choice_;
  Mode mode_;
  std::vector<std::vector<double>> past_loads_s_;
};

}  // namespace poise::objects
