// SPDX-License-Identifier: BSD-3-Clause
// What a run loses to other programs on its cores, and to CPU quotas.
#pragma once

#include "poise/diagnosis/advice.h"
#include "poise/diagnosis/measured_run.h"
#include "poise/diagnosis/shared_cores.h"

namespace poise {

/// Returns the run without the time for which ranks queued behind other programs. Only the CPU time
/// of these programs on each node is known (others_s). While another program runs on a core, one
/// rank queues for it; on a node with more ranks than cores, all ranks share the remaining cores,
/// so ranks / cores ranks queue in the mean. So others_s, times ranks / cores if this is above 1,
/// is subtracted from the queued times of the node's ranks; each queued time of a rank in a phase
/// shrinks by the same fraction. `nodes` is empty if the cores of the nodes are unknown.
MeasuredRun without_others(MeasuredRun run, const NodeSizes& nodes);

/// Returns the run without the time for which the kernel stopped ranks because of a CPU quota. Only
/// the sum of this time over all ranks and phases of a node is known. A quota stops all ranks of a
/// node, whereas other causes make single ranks queue for a long time. So the sum is divided
/// evenly: each rank was stopped for the same fraction of each phase, or for all of its queued time
/// if that is shorter.
MeasuredRun without_quota(MeasuredRun run);

/// Advice: keep other programs off the cores of the run. `alone` is without_others(run, nodes).
/// What a phase loses depends on when its ranks queue behind other programs, and on how often ranks
/// wait for each other. Inside MPI, queueing costs nothing while the rank would have waited for a
/// late rank anyway. So of each rank's queued time inside MPI, the prediction counts at most the
/// rank's transfer time. The sum over the ranks is limited to the time in which the busiest rank
/// does not compute. Outside MPI, the prediction is the mean of two values: the queued time of the
/// busiest rank, and the sum over all ranks. The lower end of the interval assumes that all ranks
/// queue at the same time, and that each rank's queueing inside MPI is spread evenly over its time
/// in MPI, including the time in which it waits for late ranks. So this end is the busiest rank's
/// queued time outside MPI, plus the mean over the ranks of the queued time inside MPI that does
/// not coincide with waiting. If waiting was not measured, the prediction is the mean of two cases:
/// ranks waited during all of their time in MPI, and ranks never waited.
Advice advice_on_other_programs(const MeasuredRun& run, const MeasuredRun& alone);

/// Advice: ask for a larger CPU quota. `unlimited` is without_quota(run). The kernel stops all
/// ranks of a node at about the same time, so a phase loses the longest time for which any rank was
/// stopped. If ranks are stopped one after the other instead, a rank may catch up while others are
/// stopped. So the lower end of the interval is the mean over the ranks.
Advice advice_on_quota(const MeasuredRun& run, const MeasuredRun& unlimited);

}  // namespace poise
