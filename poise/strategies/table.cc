// Every strategy: its declaration and its row. Adding one touches its file, its test and this.
#include "poise/strategies/strategy.h"

namespace poise {

Placement keep(const Problem&, const Knobs&);
Placement random(const Problem&, const Knobs&);
Placement rotate(const Problem&, const Knobs&);
Placement greedy(const Problem&, const Knobs&);
Placement greedy_refine(const Problem&, const Knobs&);
Placement refine(const Problem&, const Knobs&);

namespace {

constexpr Knob kTolerance = {"tolerance", 1.05, 1, 100,
                             "the makespan to be reached, over the average of all places"};

constexpr Knob kRefineKnobs[] = {kTolerance};

constexpr Strategy kStrategies[] = {
    {.name = "keep",
     .summary = "leave every task where it is: the baseline",
     .source = "-",
     .complexity = "O(n)",
     .rebalance = keep,
     .is_incremental = true},
    {.name = "random",
     .summary = "every task to a place drawn at random",
     .source = "Charm++ RandCentLB",
     .complexity = "O(n)",
     .rebalance = random},
    {.name = "rotate",
     .summary = "every task to the next place: a test of migration",
     .source = "Charm++ RotateLB",
     .complexity = "O(n)",
     .rebalance = rotate},
    {.name = "greedy",
     .summary = "heaviest task first, each to the place that finishes it first",
     .source = "Graham 1969; Charm++ GreedyLB",
     .complexity = "O(n + n log p)",
     .rebalance = greedy},
    {.name = "greedy_refine",
     .summary = "greedy, but a task stays where that keeps its place within tolerance",
     .source = "Charm++ GreedyRefine",
     .complexity = "O(n + n log p)",
     .rebalance = greedy_refine,
     .knobs = kRefineKnobs,
     .is_incremental = true},
    {.name = "refine",
     .summary = "places above a threshold give away few tasks until none is above it",
     .source = "Charm++ RefineLB",
     .complexity = "O(n + p + moved log p)",
     .rebalance = refine,
     .knobs = kRefineKnobs,
     .is_incremental = true},
};

}  // namespace

std::span<const Strategy> strategies() { return kStrategies; }

}  // namespace poise
