// SPDX-License-Identifier: BSD-3-Clause
// Computes how long a barrier among all places takes.
#pragma once

#include <span>

#include "poise/machine/machine.h"

namespace poise {

/// Returns when the last place leaves a barrier that place p enters at enters_s[p]. In round k,
/// every place p sends an empty message to place p + 2^k and waits for the message from place
/// p - 2^k, modulo the number of places (Hensgen, Finkel and Manber, "Two algorithms for barrier
/// synchronization", 1988). The messages do not compete for resources. O(places log places).
double barrier_end_s(const Machine& machine, std::span<const double> enters_s);

}  // namespace poise
