// SPDX-License-Identifier: BSD-3-Clause
// Keep: every task stays where it is. The baseline for comparisons. O(n).
#include "poise/strategies/strategy.h"

namespace poise {

Placement keep(const Problem& problem, const Knobs&) { return problem.current; }

}  // namespace poise
