// SPDX-License-Identifier: BSD-3-Clause
// Finds a better place for each rank among the places that ranks may take.
#pragma once

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/trace/trace.h"
#include "poise/workload/workload.h"

namespace poise {

/// A workload with the tasks of the trace's first phase and the messages of all phases.
Workload traffic_of(const Trace& trace);

/// Returns the map that `poise map` finds by latency factors (partition/rank_map.h). Returns
/// `current` instead if that map does not make the messages cheaper, or if ranks share a place.
Placement mapped(const Machine& machine, const Workload& traffic, const Placement& current);

/// The cost of all messages in seconds, given the factors between the places of their senders and
/// receivers.
double message_cost_s(const Machine& machine, const Workload& traffic, const Placement& placement);

}  // namespace poise
