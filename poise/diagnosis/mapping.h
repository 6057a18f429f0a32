// SPDX-License-Identifier: BSD-3-Clause
// Finds places for the ranks of a run at which their messages cost less than at the present places.
#pragma once

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/trace/trace.h"
#include "poise/workload/workload.h"

namespace poise {

/// A workload with the tasks of the trace's first phase and the messages of all phases.
Workload traffic_of(const Trace& trace);

/// Returns the placement that `poise map` finds by latency factors, or by hops if the network was
/// not measured (partition/rank_map.h). Returns `current` instead if the messages would not become
/// cheaper, or if ranks share a place in `current`.
Placement mapped(const Machine& machine, const Workload& traffic, const Placement& current);

/// The cost of all messages, given the places of their senders and receivers. The unit is seconds
/// if the network was measured, otherwise bytes times hops. (An unmeasured network has the same
/// factor for all pairs of nodes and of cores, so the cost in seconds would ignore distances.)
/// Because the unit varies, compare only costs on the same machine.
double message_cost(const Machine& machine, const Workload& traffic, const Placement& placement);

}  // namespace poise
