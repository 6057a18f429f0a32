// Keep: every task stays. The baseline that all others are compared with. O(n).
#include "poise/strategies/strategy.h"

namespace poise {

Placement keep(const Problem& problem, const Knobs&) { return problem.current; }

}  // namespace poise
