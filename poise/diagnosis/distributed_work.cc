// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/distributed_work.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "poise/diagnosis/lent_run.h"
#include "poise/diagnosis/phase_times.h"

namespace poise {

namespace {

/// The time that a rank waited for other ranks, averaged over all ranks.
Seconds mean_wait(const MeasuredRun& run) {
  double sum = 0, squares = 0;
  for (const MeasuredPhase& phase : run.phases)
    for (const RankTimes& rank : phase.ranks) {
      sum += rank.waited.value;
      squares += rank.waited.half_width * rank.waited.half_width;
    }
  const double n = run.num_ranks();
  return {sum / n, std::sqrt(squares) / n};
}

/// The mean transfer time of all ranks minus the shortest transfer time of any rank, summed over
/// the phases. Part of this difference may be waiting time, for two reasons. A sender may deliver a
/// message only in its next MPI call, which comes late if the sender computes for a long time. And
/// a rank that polls for messages waits although each of its calls returns immediately.
double uneven_transfer_s(const MeasuredRun& run) {
  double uneven_s = 0;
  for (const MeasuredPhase& phase : run.phases) {
    std::vector<double> times_s;
    for (const RankTimes& rank : phase.ranks)
      times_s.push_back(std::max(0.0, rank.wall_s - rank.useful_s - rank.waited.value));
    const double all_s = std::accumulate(times_s.begin(), times_s.end(), 0.0);
    uneven_s += all_s / times_s.size() - *std::min_element(times_s.begin(), times_s.end());
  }
  return uneven_s;
}

/// Limits `saved` to the ranks' mean waiting time plus the uneven part of their transfer times,
/// because distributing the work cannot save more. It is not known whether the uneven part is
/// waiting time, so the half width is at least half of what this part adds to the saving.
Seconds at_most(Seconds saved, const MeasuredRun& run) {
  if (!run.knows_waiting) return saved;
  const Seconds wait = mean_wait(run);
  if (saved.value <= wait.value) return saved;
  saved.value = std::min(saved.value, wait.value + uneven_transfer_s(run));
  const double uncertain_s = (saved.value - wait.value) / 2;
  saved.half_width = std::max({saved.half_width, wait.half_width, uncertain_s});
  return saved;
}

/// The seconds saved by distributing the work anew, and the fraction of all work that is moved
/// between ranks while the program runs.
struct Distribution {
  Seconds saved;
  double moved_share = 0;
};

/// If the imbalance persists, the work can be distributed once, before the run. Otherwise it has to
/// be distributed again during the run. If it is unknown whether the imbalance persists, the saving
/// lies between the saving of one distribution and that of repeated distributions.
Distribution best_distribution(const Imbalance& i,
                               const std::function<Seconds(bool is_once)>& saving) {
  if (i.kind == ImbalanceKind::persistent || i.kind == ImbalanceKind::named) return {saving(true)};
  if (i.kind != ImbalanceKind::unknown) return {saving(false), i.moved_share};
  const Seconds before = saving(true), during = saving(false);
  return {{(before.value + during.value) / 2, std::abs(before.value - during.value) / 2 +
                                                  std::max(before.half_width, during.half_width)}};
}

/// Estimates the fraction of transfers that take place after all ranks have computed: the mean
/// transfer time of all ranks divided by the transfer time of the busiest rank, but at most 1. The
/// fraction is near 0 if most transfers overlap with the computation of the busiest rank.
double late_transfers(const MeasuredRun& run) {
  double busiest_s = 0;
  for (const MeasuredPhase& phase : run.phases) {
    const RankTimes* busiest = &phase.ranks[0];
    for (const RankTimes& rank : phase.ranks)
      if (rank.load_s > busiest->load_s) busiest = &rank;
    busiest_s += std::max(0.0, busiest->wall_s - busiest->useful_s - busiest->waited.value);
  }
  const std::vector<double> means_s = mean_transfers_s(run);
  const double mean_s = std::accumulate(means_s.begin(), means_s.end(), 0.0);
  return busiest_s > 0 ? std::min(1.0, mean_s / busiest_s) : 1;
}

/// The seconds saved by distributing the work. The upper bound is `by_loads`, the saving by loads
/// alone: it assumes that all messages are sent after all ranks have finished computing. The lower
/// bound comes from the event engine, in which ranks that finish early also send early.
/// late_transfers() determines where the saving lies between the two bounds.
Seconds replayed_saving(const MeasuredRun& run, const ReplayedRun& replay,
                        const Imbalance& imbalance, bool is_once, Seconds by_loads) {
  RankLoads before_s;
  for (const MeasuredPhase& phase : run.phases) before_s.push_back(loads_of(phase));
  const RankLoads after_s = distributed_loads_s(run, imbalance, is_once);
  std::vector<double> estimates_s;
  for (std::size_t p = 0; p < before_s.size(); ++p)
    estimates_s.push_back(largest(before_s[p]) - largest(after_s[p]));
  const double factor = replay.factor_for(after_s, sum_of(replay.phases(), mean_transfers_s(run)));
  std::vector<double> saved_s = replay.times_s(before_s, replay.own_places(), factor);
  const std::vector<double> left_s = replay.times_s(after_s, replay.own_places(), factor);
  for (std::size_t k = 0; k < saved_s.size(); ++k) saved_s[k] -= left_s[k];
  const Seconds replayed = sum_over_run(saved_s, replay.phases(), estimates_s);
  const double least_s = std::clamp(replayed.value, 0.0, by_loads.value);
  const double range_s = by_loads.value - least_s, late = late_transfers(run);
  return {least_s + late * range_s,
          by_loads.half_width + replayed.half_width + std::max(late, 1 - late) * range_s};
}

}  // namespace

Advice advice_on_objects(const MeasuredRun& run, const Trace& trace, const Imbalance& imbalance,
                         const ReplayedRun* replay) {
  double bytes = 0;
  const auto& memory = trace.phases.back().workload.memory;
  for (const TaskMemory& task : memory) bytes += task.footprint_bytes;
  const double per_rank = memory.empty() ? 0 : bytes / memory.size();
  const double byte_s = trace.machine ? trace.machine->costs().seconds_per_migrated_byte
                                      : CostModel{}.seconds_per_migrated_byte;
  const auto saving = [&](bool is_once) {
    const Imbalance& i = imbalance;
    const Seconds by_loads = !is_once ? Seconds{i.periodic_s, i.periodic_error_s}
                             : i.kind == ImbalanceKind::named
                                 ? Seconds{i.named_s, i.named_error_s}
                                 : Seconds{i.persistent_s, i.persistent_error_s};
    const bool is_replayed = replay != nullptr && replay->is_possible() && run.knows_waiting;
    return is_replayed ? replayed_saving(run, *replay, imbalance, is_once, by_loads) : by_loads;
  };
  const Distribution distribution = best_distribution(imbalance, saving);
  const double moving_s = distribution.moved_share * per_rank * byte_s;
  Seconds saved = at_most(distribution.saved, run);
  saved.value -= moving_s;
  saved.half_width += moving_s;  // moving_s may be too large: it assumes a rank's peak memory
  return {Remedy::objects, saved, false};
}

Advice advice_on_lending(const MeasuredRun& run, const Trace& trace, const Imbalance& imbalance,
                         const ReplayedRun* replay) {
  // Lending is not simulated if the imbalance costs too little time to be reported.
  std::optional<Seconds> simulated;
  if (replay != nullptr && imbalance.kind != ImbalanceKind::none)
    simulated = saved_by_lending(run, *trace.machine, *replay);
  Seconds saved{imbalance.total_s, imbalance.total_error_s};
  if (simulated) saved = {simulated->value, std::max(saved.half_width, simulated->half_width)};
  return {Remedy::lending, at_most(saved, run), !simulated};
}

}  // namespace poise
