// SPDX-License-Identifier: BSD-3-Clause
// The figures of a whole run, over all ranks.
#pragma once

#include <cstdint>
#include <mpi.h>

#include "runtimes/balance/run_record.h"
#include "runtimes/objects/meter.h"

namespace poise::objects {

/// The measurements of all ranks in a run, combined; every rank gets the same values.
struct Totals {
  std::uint64_t steps = 0;
  double wall_s = 0;      // time in steps and in balancing, on the slowest rank
  double load_s = 0;      // sum of the loads of all objects
  double busiest_s = 0;   // load of the busiest rank
  double idle_s = 0;      // sum of the waiting times of all ranks
  double efficiency = 0;  // load divided by (wall time × number of threads)
  std::uint64_t migrations = 0;
  std::uint64_t migrated_bytes = 0;
  double decision_s = 0;
  double migration_s = 0;

  // Totals since the last decision.
  std::uint64_t phase_steps = 0;
  double phase_wall_s = 0;
  double phase_efficiency = 0;
  double phase_imbalance = 1;  // load of the busiest rank divided by the average
};

/// Combines the times of all ranks. Each figure in `balancing` is a sum over all balancing steps of
/// the run. Collective.
Totals totals_over_ranks(MPI_Comm comm, const Meter& meter, const balance::BalanceResult& balancing,
                         int num_threads);

}  // namespace poise::objects
