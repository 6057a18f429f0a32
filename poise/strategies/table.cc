// SPDX-License-Identifier: BSD-3-Clause
// The table of strategies. To add one: write its file and its test, declare and list it here.
#include <algorithm>
#include <array>
#include <iterator>

#include "poise/search/tuning.h"
#include "poise/strategies/poise.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/predict.h"

namespace poise {

Placement keep(const Problem&, const Knobs&);
Placement poise_strategy(const Problem&, const Knobs&);
Placement random(const Problem&, const Knobs&);
Placement rotate(const Problem&, const Knobs&);
Placement greedy(const Problem&, const Knobs&);
Placement greedy_refine(const Problem&, const Knobs&);
Placement refine(const Problem&, const Knobs&);
Placement greedy_comm(const Problem&, const Knobs&);
Placement refine_comm(const Problem&, const Knobs&);
Placement orb(const Problem&, const Knobs&);
Placement metis(const Problem&, const Knobs&);
Placement scotch(const Problem&, const Knobs&);
Placement nuco(const Problem&, const Knobs&);
Placement numa(const Problem&, const Knobs&);
Placement treematch(const Problem&, const Knobs&);
Placement anneal(const Problem&, const Knobs&);
Placement optimal(const Problem&, const Knobs&);
Placement multistep(const Problem&, const Knobs&);

namespace {

constexpr Knob kTolerance = {"tolerance", 1.05, 1, 100,
                             "makespan to reach, relative to the average of all places"};

constexpr std::string_view kNoYes[] = {"0", "1"};

constexpr Knob kRefineKnobs[] = {kTolerance};

constexpr Knob kRefineCommKnobs[] = {
    {"tolerance", 1.05, 1, 100,
     "busy time of the busiest place to reach, relative to the current average"}};

constexpr std::string_view kMetisMethods[] = {"recursive", "kway"};
constexpr Knob kMetisKnobs[] = {
    {"tolerance", 1.03, 1.001, 2, "largest part that METIS may make, relative to its share"},
    {"method", 0, 0, 1, "recursive: cuts less; kway: faster for fewer than 256 places",
     kMetisMethods},
    {"stay", 1, 0, 1, "1: rename nodes and places so that most load stays where it is", kNoYes},
};

constexpr std::string_view kEfforts[] = {"usual", "best"};
constexpr Knob kScotchKnobs[] = {
    {"tolerance", 1.05, 1.001, 2, "makespan that Scotch may make, relative to the average"},
    {"effort", 0, 0, 1, "trade-off between the time that Scotch takes and the quality of its maps",
     kEfforts},
    {"remap", 0, 0, 1, "0: map anew; 1: start from the current placement", kNoYes},
    {"migration", 1, 0, 1e6, "with remap=1: weight of migrations, multiplies their seconds"},
};

constexpr Knob kGreedyCommKnobs[] = {
    {"comm", 1, 0, 1e6, "weight of messages, multiplies their seconds in the cost model"}};

constexpr Knob kNucoKnobs[] = {
    {"alpha", 1e-5, 0, 1, "seconds that a received message costs per unit of factor"},
    {"local", 1, 0, 1,
     "1: messages from the same place are local; 0: they are ignored, as the paper says", kNoYes},
    {"caches", 0, 0, 1, "1: local messages count by the caches that both places share", kNoYes},
};
constexpr std::string_view kNumaLevels[] = {"core", "node"};
constexpr Knob kNumaKnobs[] = {
    {"alpha", 1e-5, 0, 1, "seconds that an exchanged message costs per unit of factor"},
    {"level", 0, 0, 1, "a message is local inside a core, or inside a NUMA node", kNumaLevels},
};

constexpr std::string_view kAffinities[] = {"bytes", "messages"};
constexpr std::string_view kGroupings[] = {"affinity", "current"};
constexpr std::string_view kTreematchLevels[] = {"node", "auto", "0", "1", "2", "3",
                                                 "4",    "5",    "6", "7", "8", "9"};
constexpr Knob kTreematchKnobs[] = {
    {"max_imbalance", 1.05, 1, 100, "maximum work of a place, relative to the average"},
    {"affinity", 0, 0, 1,
     "affinity of two tasks: bytes or number of messages (used if all bytes are 0)", kAffinities},
    {"levels", 0, 0, std::size(kTreematchLevels) - 1.0,
     "groups of places among which tasks are divided first: nodes; those of level 1 (coarsest), 2, "
     "and so on; 0: one with all places; auto: whichever gives the shortest iteration",
     kTreematchLevels},
    {"groups", 0, 0, 1,
     "groups of tasks per node: by affinity; or the current ones, as the slides say", kGroupings},
    {"only_better", 1, 0, 1, "1: keep the current placement if it has the shorter iteration"},
    {"threads", 1, 1, 1024, "nodes solved at once; no effect on the placement"},
};

constexpr Knob kPoiseKnobs[] = {
    {"steps", 0, 0, 1e9,
     "phases until the next decision, in which migrations must pay off; 0: K of --every, or 10"},
    {"from_scratch", 0, 0, 1, "1: place all tasks anew, with little traffic under a load cap",
     kNoYes},
    {"memory_bytes", 0, 0, 1e15,
     "memory of a place for tasks; 0: only that of its domain, if known"},
    {"passes", 0, 0, 1e4, "times that the best placement is perturbed and improved again"},
    {"budget_s", 0, 0, 1e4, "time for further passes, seconds; 0: none; not repeatable"},
    {"threads", 1, 1, 1024, "parts of the problem solved at once; no effect on the placement"},
};

constexpr Knob kAnnealKnobs[] = {
    {"sweeps", 300, 1, 3000, "steps per task; quality still improves at 3000"},
    {"seed", 0, 0, 1e9, "seed of the random numbers"},
};

constexpr Knob kOptimalKnobs[] = {
    {"placements", 1e10, 100, 1e12, "maximum number of placements, places^tasks, to choose from"}};

constexpr Strategy kStrategies[] = {
    {.name = "keep",
     .summary = "leaves every task where it is: the baseline",
     .source = "-",
     .complexity = "O(n)",
     .rebalance = keep,
     .is_incremental = true,
     .ignores_messages = true},
    {.name = "poise",
     .summary = "local search on the predicted time: load, messages, few migrations",
     .source = "this project",
     .complexity = "O((n + E) log p)",
     .rebalance = poise_strategy,
     .knobs = kPoiseKnobs,
     .tuning = kTuningKnobs,
     .is_incremental = true},
    {.name = "random",
     .summary = "every task to a random place",
     .source = "Charm++ RandCentLB",
     .complexity = "O(n)",
     .rebalance = random,
     .ignores_messages = true},
    {.name = "rotate",
     .summary = "every task to the next place: a test of migration",
     .source = "Charm++ RotateLB",
     .complexity = "O(n)",
     .rebalance = rotate,
     .ignores_messages = true},
    {.name = "greedy",
     .summary = "heaviest task first, each to the place that finishes it first",
     .source = "Graham 1969; Charm++ GreedyLB",
     .complexity = "O(n + n log p)",
     .rebalance = greedy,
     .ignores_messages = true},
    {.name = "greedy_refine",
     .summary = "greedy, but a task stays if its place stays within tolerance",
     .source = "Charm++ GreedyRefine",
     .complexity = "O(n + n log p)",
     .rebalance = greedy_refine,
     .knobs = kRefineKnobs,
     .is_incremental = true,
     .ignores_messages = true},
    {.name = "refine",
     .summary = "places above a threshold give away few tasks until none is above it",
     .source = "Charm++ RefineLB",
     .complexity = "O(n + p + moved log p)",
     .rebalance = refine,
     .knobs = kRefineKnobs,
     .is_incremental = true,
     .ignores_messages = true},
    {.name = "greedy_comm",
     .summary = "heaviest task first, each where its work and its messages cost least",
     .source = "Charm++ GreedyCommLB",
     .complexity = "O(n + (n + m) log p)",
     .rebalance = greedy_comm,
     .knobs = kGreedyCommKnobs},
    {.name = "refine_comm",
     .summary = "refine with the machine's costs of messages",
     .source = "Charm++ RefineCommLB",
     .complexity = "O(n + m + p + tries degree log p)",
     .rebalance = refine_comm,
     .knobs = kRefineCommKnobs,
     .is_incremental = true},
    {.name = "orb",
     .summary = "recursive coordinate bisection: a box of space per place; needs positions",
     .source = "Berger and Bokhari 1987; Charm++ Orb3dLB",
     .complexity = "O(n log p)",
     .rebalance = orb,
     .ignores_messages = true,
     .needs = "positions"},
    {.name = "metis",
     .summary = "parts of equal work that cut few messages, kept where their load is",
     .source = "Karypis and Kumar 1998 (METIS)",
     .complexity = "O((n + m) log p)",
     .rebalance = metis,
     .knobs = kMetisKnobs},
    {.name = "scotch",
     .summary = "maps the graph of tasks onto the machine's tree, anew or from the current map",
     .source = "Pellegrini and Roman 1996 (Scotch)",
     .complexity = "O((n + m) log p)",
     .rebalance = scotch,
     .knobs = kScotchKnobs},
    {.name = "nuco",
     .summary = "heaviest task first, each where its load and its remote messages cost least",
     .source = "NucoLB: Pilla et al. 2012, Algorithm 1",
     .complexity = "O(n + E depth log p)",
     .rebalance = nuco,
     .knobs = kNucoKnobs},
    {.name = "numa",
     .summary = "nuco with the messages exchanged with each core in both directions",
     .source = "NumaLB: Charm++ on NUMA Platforms, Charm++ workshop 2011",
     .complexity = "O(n + E depth log p)",
     .rebalance = numa,
     .knobs = kNumaKnobs},
    {.name = "treematch",
     .summary = "groups tasks by affinity, bottom-up on the machine's tree, under a load cap",
     .source = "Jeannot, Mercier and Tessier 2016 (TreeMatchLB)",
     .complexity = "O((n + m) log p)",
     .rebalance = treematch,
     .knobs = kTreematchKnobs},
};

// The strategy multistep runs one of the strategies in kStrategies; its knob `inner` is an index
// into this table.
constexpr auto kInner = choices_of(kStrategies);
constexpr auto kPredictor = choices_of(kPredictors);
constexpr double index_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) - names.begin();
}
constexpr Knob kMultistepKnobs[] = {
    {"inner", index_of("greedy_refine", kInner), 0, std::size(kInner) - 1.0,
     "the strategy that decides on predicted loads", kInner},
    {"predictor", index_of("ewma", kPredictor), 0, std::size(kPredictor) - 1.0,
     "how the next load is predicted from earlier ones", kPredictor},
    {"window", 5, 1, 1000, "phases used, including the current one"},
    {"smoothing", 0.5, 0, 1, "weight of the newest load with predictor=ewma"},
};
constexpr Strategy kMultistep{
    .name = "multistep",
    .summary = "predicts loads from earlier phases, then an inner strategy decides",
    .source = "Charm++ MultistepLB",
    .complexity = "O(n window) and the inner strategy's",
    .rebalance = multistep,
    .knobs = kMultistepKnobs,
    .needs = "loads of past phases"};

constexpr Strategy kOracles[] = {
    {.name = "anneal",
     .summary = "simulated annealing on the predicted time: slow, shows what is possible",
     .source = "Kirkpatrick, Gelatt and Vecchi 1983",
     .complexity = "O(sweeps (n degree + p))",
     .rebalance = anneal,
     .knobs = kAnnealKnobs,
     .is_incremental = true,
     .is_oracle = true},
    {.name = "optimal",
     .summary = "the least predicted time, by branch and bound; for about a dozen tasks",
     .source = "Land and Doig 1960",
     .complexity = "O(p^n), refuses where that is large",
     .rebalance = optimal,
     .knobs = kOptimalKnobs,
     .is_incremental = true,
     .is_oracle = true},
};

constexpr auto kTable = [] {
  std::array<Strategy, std::size(kStrategies) + 1 + std::size(kOracles)> table{};
  auto* row = std::copy(std::begin(kStrategies), std::end(kStrategies), table.begin());
  *row++ = kMultistep;
  std::copy(std::begin(kOracles), std::end(kOracles), row);
  return table;
}();

}  // namespace

std::span<const Strategy> strategies() { return kTable; }

}  // namespace poise
