// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/interference.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "poise/diagnosis/efficiencies.h"
#include "poise/diagnosis/phase_times.h"

namespace poise {

namespace {

/// Removes `less_s` of the time for which a rank queued in a phase. The phase lasts as long as
/// before: the part that is removed outside MPI is added to the rank's time in MPI.
void queue_less(RankTimes& rank, double less_s) {
  if (rank.queued_s <= 0) return;
  rank.useful_s -= less_s / rank.queued_s * (rank.useful_s - rank.load_s);
  rank.queued_s -= less_s;
}

/// A part of a run in which a rank queued for the fraction `queued` of `wall_s` seconds.
struct Queue {
  double queued = 0, wall_s = 0;
};

/// The seconds for which a rank queued behind other programs in a phase: outside MPI, and inside
/// MPI while it was not waiting for a late rank. How much of the queueing inside MPI coincided with
/// such waiting is unknown: least_in_mpi_s assumes that the queueing was spread evenly over the
/// time in MPI, most_in_mpi_s that as little of it as possible coincided with waiting.
struct Queued {
  double computing_s = 0, least_in_mpi_s = 0, most_in_mpi_s = 0;
};

/// `alone` holds the times of the same rank and phase without the other programs. If waiting was
/// not measured, the rank may have waited for all its time in MPI, or never.
Queued queued_behind_others(const RankTimes& rank, const RankTimes& alone, bool knows_waiting) {
  const double computing_s = rank.useful_s - alone.useful_s;
  const double in_mpi_s = std::max(0.0, rank.queued_s - alone.queued_s - computing_s);
  const double transfer_s = std::max(0.0, rank.wall_s - rank.useful_s - rank.waited.value);
  const double evenly_s = in_mpi_s * transfer_s / std::max(rank.wall_s - rank.useful_s, 1e-300);
  return {computing_s, knows_waiting ? evenly_s : 0, std::min(in_mpi_s, transfer_s)};
}

/// Returns the fraction f for which the sum of wall_s * min(queued, f) over `queues` is `sum_s`.
/// Returns 1 if this sum is below `sum_s` for every f.
double fraction_with_sum(std::vector<Queue> queues, double sum_s) {
  std::ranges::sort(queues, {}, &Queue::queued);
  double wall_s = 0;
  for (const Queue& queue : queues) wall_s += queue.wall_s;
  for (const Queue& queue : queues) {
    if (sum_s <= queue.queued * wall_s) return sum_s / wall_s;
    sum_s -= queue.queued * queue.wall_s;
    wall_s -= queue.wall_s;
  }
  return 1;
}

}  // namespace

MeasuredRun without_others(MeasuredRun run, const NodeSizes& nodes) {
  std::vector<double> behind_others_s = run.others_s, queued_s(run.others_s.size());
  for (std::size_t n = 0; n < std::min(nodes.ranks.size(), behind_others_s.size()); ++n)
    behind_others_s[n] *= std::max(1.0, 1.0 * nodes.ranks[n] / nodes.cores[n]);
  for (const MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r)
      queued_s[run.node_of_rank[r]] += phase.ranks[r].queued_s;
  for (MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
      const std::uint32_t node = run.node_of_rank[r];
      const double share = std::min(1.0, behind_others_s[node] / std::max(queued_s[node], 1e-300));
      queue_less(phase.ranks[r], share * phase.ranks[r].queued_s);
    }
  return run;
}

MeasuredRun without_quota(MeasuredRun run) {
  std::vector<std::vector<Queue>> queues(run.quotas.size());
  for (const MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r)
      if (const RankTimes& rank = phase.ranks[r]; rank.wall_s > 0)
        queues[run.node_of_rank[r]].push_back({rank.queued_s / rank.wall_s, rank.wall_s});
  std::vector<double> stopped;
  for (std::size_t node = 0; node < queues.size(); ++node)
    stopped.push_back(fraction_with_sum(std::move(queues[node]), run.quotas[node].stopped_s));
  for (MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
      RankTimes& rank = phase.ranks[r];
      queue_less(rank, std::min(rank.queued_s, stopped[run.node_of_rank[r]] * rank.wall_s));
    }
  return run;
}

Advice advice_on_quota(const MeasuredRun& run, const MeasuredRun& unlimited) {
  const std::vector<double> phases_s = phase_times_s(run);
  double saved_s = 0, least_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    double most_s = 0, sum_s = 0;
    for (std::size_t r = 0; r < run.num_ranks(); ++r) {
      const double stopped_s =
          run.phases[p].ranks[r].queued_s - unlimited.phases[p].ranks[r].queued_s;
      most_s = std::max(most_s, stopped_s);
      sum_s += stopped_s;
    }
    const double limit_s = std::max(0.0, phases_s[p] - largest_useful_s(unlimited.phases[p]));
    saved_s += std::min(most_s, limit_s);
    least_s += std::min(sum_s / run.num_ranks(), limit_s);
  }
  return {Remedy::quota, {saved_s, saved_s - least_s}, false};
}

Advice advice_on_other_programs(const MeasuredRun& run, const MeasuredRun& alone) {
  const std::vector<double> phases_s = phase_times_s(run), exposed_s = exposed_times_s(run);
  double least_s = 0, low_s = 0, high_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const auto& ranks = run.phases[p].ranks;
    Queued sum;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const Queued queued =
          queued_behind_others(ranks[r], alone.phases[p].ranks[r], run.knows_waiting);
      sum.computing_s += queued.computing_s;
      sum.least_in_mpi_s += queued.least_in_mpi_s;
      sum.most_in_mpi_s += queued.most_in_mpi_s;
    }
    const double alone_s = largest_useful_s(alone.phases[p]);
    const double busiest_s = largest_useful_s(run.phases[p]) - alone_s;
    least_s += busiest_s + std::min(sum.least_in_mpi_s / ranks.size(), exposed_s[p]);
    low_s += busiest_s + std::min(run.knows_waiting ? sum.most_in_mpi_s : 0, exposed_s[p]);
    high_s += std::min(sum.computing_s + sum.most_in_mpi_s, std::max(0.0, phases_s[p] - alone_s));
  }
  const double middle_s = (low_s + std::max(low_s, high_s)) / 2;
  return {Remedy::exclusive, {middle_s, middle_s - least_s}, false};
}

}  // namespace poise
