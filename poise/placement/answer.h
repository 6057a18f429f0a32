// SPDX-License-Identifier: BSD-3-Clause
// Checks the answer of a strategy, which may be a program of the user.
#pragma once

#include "poise/placement/placement.h"
#include "poise/placement/problem.h"

namespace poise {

/// Throws Error unless `after` gives each task a place of the machine and leaves pinned tasks where
/// they are in `problem.current`. O(tasks).
void check_answer(const Problem& problem, const Placement& after);

}  // namespace poise
