// A better place for each rank, on the places that ranks may take.
#pragma once

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/trace/trace.h"
#include "poise/workload/workload.h"

namespace poise {

/// All messages of a trace and the tasks of its first phase.
Workload traffic_of(const Trace& trace);

/// No two tasks share a place that did not before. Starts from treematch's placement or from the
/// current one, whichever is better, and swaps tasks, or moves them to free places, as long as the
/// sum of message costs shrinks. O(rounds x messages x places of a node).
Placement mapped(const Machine& machine, const Workload& traffic, const Placement& current);

/// The sum over all messages of what they cost at the factors between their places, in seconds.
double message_cost_s(const Machine& machine, const Workload& traffic, const Placement& placement);

}  // namespace poise
