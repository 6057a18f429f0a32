// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/merged_slices.h"

#include <cmath>

#include "poise/diagnosis/imbalance.h"
#include "poise/diagnosis/tuning.h"
#include "poise/workload/merge.h"

namespace poise {

namespace {

void add(const RankTimes& later, RankTimes& times) {
  times.wall_s += later.wall_s;
  times.useful_s += later.useful_s;
  times.load_s += later.load_s;
  times.queued_s += later.queued_s;
  times.waited.value += later.waited.value;
  times.waited.half_width = std::hypot(times.waited.half_width, later.waited.half_width);
  times.waited_for.insert(times.waited_for.end(), later.waited_for.begin(), later.waited_for.end());
  times.io_s += later.io_s;
}

void add(const Phase& later, Phase& phase) {
  phase.wall_s += later.wall_s;
  phase.placement = later.placement;
  Workload& sum = phase.workload;
  const Workload& more = later.workload;
  for (std::size_t t = 0; t < sum.tasks.size(); ++t) sum.tasks[t].load_s += more.tasks[t].load_s;
  sum.messages.insert(sum.messages.end(), more.messages.begin(), more.messages.end());
  sum.memory = more.memory;  // the most that a rank has used since the run began
}

}  // namespace

MeasuredRun merged(const MeasuredRun& run, std::size_t count) {
  MeasuredRun result = run;
  result.phases.clear();
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    if (p % count == 0) {
      result.phases.push_back(run.phases[p]);
      continue;
    }
    for (std::size_t r = 0; r < run.num_ranks(); ++r)
      add(run.phases[p].ranks[r], result.phases.back().ranks[r]);
  }
  return result;
}

Trace merged(const Trace& trace, std::size_t count) {
  Trace result;
  result.machine = trace.machine;
  result.num_places = trace.num_places;
  for (std::size_t p = 0; p < trace.phases.size(); ++p)
    if (p % count == 0)
      result.phases.push_back(trace.phases[p]);
    else
      add(trace.phases[p], result.phases.back());
  for (Phase& phase : result.phases) merge_in_place(phase.workload.messages);
  return result;
}

std::size_t slices_to_merge(const MeasuredRun& run) {
  if (!run.are_slices) return 1;
  const Imbalance single = imbalance_of(run);
  const bool is_random = single.kind == ImbalanceKind::random;
  if (!is_random && single.kind != ImbalanceKind::drifting) return 1;
  // Merging slices averages out an imbalance that is really random. What little remains might seem
  // persistent. So a saving must be a large part of what imbalance costs in the unmerged slices.
  const double enough_s = diagnosis_tuning::kPersistentShare * single.total_s;
  std::size_t if_drifting = 1;
  for (std::size_t count = 2; run.phases.size() / count >= diagnosis_tuning::kMinPhases;
       count *= 2) {
    const Imbalance imbalance = imbalance_of(merged(run, count));
    if (imbalance.persistent_s >= enough_s) return count;
    if (is_random && if_drifting == 1 && imbalance.periodic_s >= enough_s) if_drifting = count;
  }
  return if_drifting;
}

}  // namespace poise
