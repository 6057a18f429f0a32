// Every strategy: its declaration and its row. Adding one touches its file, its test and this.
#include "poise/strategies/strategy.h"

namespace poise {

Placement keep(const Problem&, const Knobs&);
Placement greedy(const Problem&, const Knobs&);

namespace {

constexpr Strategy kStrategies[] = {
    {.name = "keep",
     .summary = "leave every task where it is: the baseline",
     .source = "-",
     .complexity = "O(n)",
     .rebalance = keep,
     .is_incremental = true},
    {.name = "greedy",
     .summary = "heaviest task first, each to the place that finishes it first",
     .source = "Graham 1969; Charm++ GreedyLB",
     .complexity = "O(n + n log p)",
     .rebalance = greedy},
};

}  // namespace

std::span<const Strategy> strategies() { return kStrategies; }

}  // namespace poise
