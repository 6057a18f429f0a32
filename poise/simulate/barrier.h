// SPDX-License-Identifier: BSD-3-Clause
// The time of a barrier of all places.
#pragma once

#include <span>

#include "poise/machine/machine.h"

namespace poise {

/// Returns when the last place leaves a barrier that place p enters at enters_s[p]. In round k
/// every place sends an empty message to the place 2^k after it, and waits for that of the place
/// 2^k before it (Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988).
/// The messages do not compete for resources. O(places log places).
double barrier_end_s(const Machine& machine, std::span<const double> enters_s);

}  // namespace poise
