// SPDX-License-Identifier: BSD-3-Clause
// Flows as fluids: at every moment, the flows share each resource max-min fairly.
#pragma once

#include <span>
#include <vector>

#include "poise/simulate/flows.h"

namespace poise {

/// Returns the time at which each flow ends. Bytes flow through all resources of a route
/// simultaneously. At every moment the rates (bytes per second) are max-min fair: a flow can become
/// faster only if another flow that is not faster becomes slower. SimGrid shares links in this way
/// (Casanova et al., "Versatile, scalable, and accurate simulation of distributed applications and
/// platforms", JPDC 2014).
///
/// Flows of one route always have the same rate, so rates are computed per route, by progressive
/// filling (Bertsekas and Gallager, "Data Networks", section 6.5.2), whenever a flow starts or
/// ends. If window_s is above 0, these computations are at least window_s apart, which bounds their
/// number, and each treats as simultaneous all starts and ends that are at most window_s / 2 later.
/// The computed end of a flow may then be too early or too late by about window_s. O(computations *
/// resources on active routes + flows log flows).
///
/// `detours` has one entry per flow, or none at all. A flow takes its detour if a byte would need
/// less time there than on the flow's own route. The time on a route is summed over its resources,
/// as if each resource were shared evenly by the flow and the flows in flight.
std::vector<double> fluid_ends_s(const Routes& routes, std::span<const Flow> flows,
                                 double window_s = 0, std::span<const Detour> detours = {});

}  // namespace poise
