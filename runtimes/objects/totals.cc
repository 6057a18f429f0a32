// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/totals.h"

#include "runtimes/objects/collectives.h"

namespace poise::objects {

Totals totals_over_ranks(MPI_Comm comm, const Meter& meter, const balance::BalanceResult& balancing,
                         int num_threads) {
  const RankTimes &run = meter.run(), &phase = meter.phase();
  double sums[] = {run.run_load_s, run.idle_s, static_cast<double>(num_threads), phase.run_load_s};
  double largest[] = {run.wall_s,       run.run_load_s, balancing.decision_s, balancing.migration_s,
                      phase.run_load_s, phase.wall_s};
  sum_over_ranks(comm, sums);
  max_over_ranks(comm, largest);
  const auto [load_s, idle_s, threads, phase_load_s] = sums;
  const auto [wall_s, busiest_s, decision_s, migration_s, phase_busiest_s, phase_wall_s] = largest;
  int num_ranks = 1;
  MPI_Comm_size(comm, &num_ranks);
  return {.steps = run.steps,
          .wall_s = wall_s,
          .load_s = load_s,
          .busiest_s = busiest_s,
          .idle_s = idle_s,
          .efficiency = wall_s > 0 ? load_s / (wall_s * threads) : 1,
          .migrations = balancing.migrations,
          .migrated_bytes = balancing.migrated_bytes,
          .decision_s = decision_s,
          .migration_s = migration_s,
          .phase_steps = phase.steps,
          .phase_wall_s = phase_wall_s,
          .phase_efficiency = phase_wall_s > 0 ? phase_load_s / (phase_wall_s * threads) : 1,
          .phase_imbalance = phase_load_s > 0 ? phase_busiest_s * num_ranks / phase_load_s : 1};
}

}  // namespace poise::objects
