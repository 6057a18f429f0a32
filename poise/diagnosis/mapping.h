// SPDX-License-Identifier: BSD-3-Clause
// A better place for each rank, on the places that ranks may take.
#pragma once

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/trace/trace.h"
#include "poise/workload/workload.h"

namespace poise {

/// All messages of a trace and the tasks of its first phase.
Workload traffic_of(const Trace& trace);

/// What `poise map` finds by latency factors (partition/rank_map.h), unless the messages would cost
/// no less there. Ranks that share places stay.
Placement mapped(const Machine& machine, const Workload& traffic, const Placement& current);

/// The sum over all messages of what they cost at the factors between their places, in seconds.
double message_cost_s(const Machine& machine, const Workload& traffic, const Placement& placement);

}  // namespace poise
