// SPDX-License-Identifier: BSD-3-Clause
// Simulates flows as sequences of pieces that wait in queues: first come, first served; store and
// forward.
#pragma once

#include <span>
#include <vector>

#include "poise/simulate/flows.h"

namespace poise {

/// Returns the time at which each flow ends. Every resource serves one flow after the other, in the
/// order in which their first pieces arrive (ties: by index), one piece at a time. A piece
/// continues to the next resource of its route when it has been served. The pieces of a flow follow
/// each other, so a flow of many pieces uses several resources at the same time. Buffers are
/// unlimited. O(stops log flows), where the stops are the resources on the routes of all flows.
///
/// `detours` has one entry per flow, or none at all. A flow takes its detour if that is expected to
/// be faster: if the waiting and service times, summed over the resources of the detour, are less
/// than the same sum over its own route. Waiting times follow from what each resource still has to
/// serve when the flow starts.
std::vector<double> queue_ends_s(const Routes& routes, std::span<const Flow> flows,
                                 std::span<const Detour> detours = {});

}  // namespace poise
