// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/measured_run.h"

#include <algorithm>
#include <cmath>

#include "poise/base/error.h"

namespace poise {

void check(const MeasuredRun& run) {
  if (run.num_ranks() == 0) fail("the profile has no ranks; was the program an MPI program?");
  if (run.phases.empty())
    fail("the profile has no phases; did the program end before its first collective?");
  const std::size_t nodes = 1 + *std::ranges::max_element(run.node_of_rank);
  if (!run.others_s.empty() && run.others_s.size() != nodes)
    fail("the profile has CPU times of other programs on {} nodes, but the program ran on {} nodes",
         run.others_s.size(), nodes);
  if (!run.quotas.empty() && run.quotas.size() != nodes)
    fail("the profile has CPU quotas for {} nodes, but the program ran on {} nodes",
         run.quotas.size(), nodes);
  for (const NodeQuota& quota : run.quotas)
    for (const double value : {quota.cpus, quota.stopped_s})
      if (!std::isfinite(value) || value < 0)
        fail(
            "the profile has a CPU quota of {} cpus, which stopped ranks for {} s; both numbers "
            "must be finite and at least 0",
            quota.cpus, quota.stopped_s);
  for (const double s : run.others_s)
    if (!std::isfinite(s) || s < 0)
      fail(
          "the profile has {} s of CPU time of other programs; this time must be finite and at "
          "least 0",
          s);
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const auto& ranks = run.phases[p].ranks;
    if (ranks.size() != run.num_ranks())
      fail("phase {} of the profile has times of {} ranks, but the program ran on {} ranks", p,
           ranks.size(), run.num_ranks());
    for (std::size_t r = 0; r < ranks.size(); ++r)
      for (const double s : {ranks[r].wall_s, ranks[r].useful_s, ranks[r].load_s, ranks[r].queued_s,
                             ranks[r].waited.value, ranks[r].waited.half_width})
        if (!std::isfinite(s) || s < 0)
          fail(
              "phase {}, rank {} of the profile has a time of {} s; it must be finite and at least "
              "0",
              p, r, s);
  }
}

MeasuredRun part_named(const MeasuredRun& run, const std::string& name) {
  if (name.empty()) return run;
  MeasuredRun part{.node_of_rank = run.node_of_rank, .knows_waiting = run.knows_waiting};
  for (const MeasuredPhase& phase : run.phases)
    if (phase.name == name) part.phases.push_back(phase);
  return part;
}

}  // namespace poise
