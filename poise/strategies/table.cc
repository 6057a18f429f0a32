// Every strategy: its declaration and its row. Adding one touches its file, its test and this.
#include <algorithm>
#include <array>
#include <iterator>

#include "poise/search/tuning.h"
#include "poise/strategies/starts.h"
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
                             "the makespan to be reached, over the average of all places"};

constexpr std::string_view kNoYes[] = {"0", "1"};

constexpr Knob kRefineKnobs[] = {kTolerance};

constexpr Knob kRefineCommKnobs[] = {{"tolerance", kRefineCommTolerance, 1, 100,
                                      "the busiest place to be reached, over the average now"}};

constexpr std::string_view kMetisMethods[] = {"recursive", "kway"};
constexpr Knob kMetisKnobs[] = {
    {"tolerance", 1.03, 1.001, 2, "the largest part that METIS may make, over what it should be"},
    {"method", 0, 0, 1, "recursive cuts less; kway is faster for less than 256 places",
     kMetisMethods},
    {"stay", 1, 0, 1, "1: rename nodes and places so that load stays where it is", kNoYes},
};

constexpr std::string_view kEfforts[] = {"usual", "best"};
constexpr Knob kScotchKnobs[] = {
    {"tolerance", 1.05, 1.001, 2, "the makespan that Scotch may make, over the average"},
    {"effort", 0, 0, 1, "time that Scotch takes against the quality of its maps", kEfforts},
    {"remap", 0, 0, 1, "0: map afresh; 1: start from the current placement", kNoYes},
    {"migration", 1, 0, 1e6, "with remap=1: weight of migrations, times their seconds"},
};

constexpr Knob kGreedyCommKnobs[] = {{"comm", kGreedyCommWeight, 0, 1e6,
                                      "weight of messages: times their seconds in the cost model"}};

constexpr Knob kNucoKnobs[] = {
    {"alpha", kNucoAlpha, 0, 1, "seconds that a message received costs per unit of factor"},
    {"local", 1, 0, 1, "1: messages from the same place are local; 0: they count as nothing",
     kNoYes},
};
constexpr std::string_view kNumaLevels[] = {"core", "node"};
constexpr Knob kNumaKnobs[] = {
    {"alpha", 1e-5, 0, 1, "seconds that a message exchanged costs per unit of factor"},
    {"level", 0, 0, 1, "what must be shared for a message to be near: the core or the NUMA node",
     kNumaLevels},
};

constexpr std::string_view kAffinities[] = {"bytes", "messages"};
constexpr std::string_view kGroupings[] = {"affinity", "current"};
constexpr Knob kTreematchKnobs[] = {
    {"max_imbalance", 1.05, 1, 100, "the most a place may work, over the average"},
    {"affinity", 0, 0, 1, "what draws tasks together; messages where all bytes are 0", kAffinities},
    {"groups", 0, 0, 1, "groups of tasks per node: made anew, or as they are now", kGroupings},
    {"only_better", 1, 0, 1, "1: keep the current placement where it has the shorter iteration"},
    {"threads", 1, 1, 1024, "nodes solved at once; the placement is the same"},
};

constexpr Knob kPoiseKnobs[] = {
    {"steps", PoiseOptions{}.steps, 1, 1e9,
     "phases until the next decision, over which migrations must pay off"},
    {"from_scratch", 0, 0, 1, "1: place all tasks anew, for little traffic under a load cap",
     kNoYes},
    {"memory_bytes", 0, 0, 1e15,
     "the most that tasks may take at a place, 0: what its domain has, if that is known"},
    {"passes", 0, 0, 1e4, "times that the best is perturbed and refined again, for quality"},
    {"budget_s", 0, 0, 1e4, "go on with passes for so many seconds, 0: none; not repeatable"},
    {"threads", 1, 1, 1024, "parts of the problem solved at once; the placement is the same"},
};

constexpr Knob kAnnealKnobs[] = {
    {"sweeps", 300, 1, 3000, "steps per task; quality still grows at 3000"},
    {"seed", 0, 0, 1e9, "another one, another answer"},
};

constexpr Knob kOptimalKnobs[] = {
    {"placements", 1e10, 100, 1e12, "the most there may be to choose from: places^tasks"}};

constexpr Strategy kStrategies[] = {
    {.name = "keep",
     .summary = "leave every task where it is: the baseline",
     .source = "-",
     .complexity = "O(n)",
     .rebalance = keep,
     .is_incremental = true,
     .ignores_messages = true},
    {.name = "poise",
     .summary = "refines the current placement by predicted time: load, messages, few migrations",
     .source = "this project",
     .complexity = "O((n + E) log p)",
     .rebalance = poise_strategy,
     .knobs = kPoiseKnobs,
     .tuning = kTuningKnobs,
     .is_incremental = true},
    {.name = "random",
     .summary = "every task to a place drawn at random",
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
     .summary = "greedy, but a task stays where that keeps its place within tolerance",
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
     .summary = "as refine, with messages as the machine prices them",
     .source = "Charm++ RefineCommLB",
     .complexity = "O(n + m + p + looks degree log p)",
     .rebalance = refine_comm,
     .knobs = kRefineCommKnobs,
     .is_incremental = true},
    {.name = "orb",
     .summary = "cuts space in two until each place has a box of work; needs positions",
     .source = "Berger and Bokhari 1987; Charm++ Orb3dLB",
     .complexity = "O(n log p)",
     .rebalance = orb,
     .ignores_messages = true},
    {.name = "metis",
     .summary = "parts of equal work that cut few messages, kept where their load is",
     .source = "Karypis and Kumar 1998 (METIS)",
     .complexity = "O((n + m) log p)",
     .rebalance = metis,
     .knobs = kMetisKnobs},
    {.name = "scotch",
     .summary = "maps the graph of tasks onto the machine's tree, afresh or from where it is",
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
     .summary = "as nuco, with the messages exchanged with each core, both ways",
     .source = "NumaLB: Charm++ on NUMA Platforms, Charm++ workshop 2011",
     .complexity = "O(n + E depth log p)",
     .rebalance = numa,
     .knobs = kNumaKnobs},
    {.name = "treematch",
     .summary = "groups by affinity, bottom-up on the machine tree, under a cap on load",
     .source = "Jeannot, Mercier and Tessier 2016 (TreeMatchLB)",
     .complexity = "O((n + m) log p)",
     .rebalance = treematch,
     .knobs = kTreematchKnobs},
};

// Multistep stands in front of any of the above: its knob `inner` is the index of a row.
constexpr auto kInner = choices_of(kStrategies);
constexpr auto kPredictor = choices_of(kPredictors);
constexpr double index_of(std::string_view name, std::span<const std::string_view> names) {
  return static_cast<double>(std::find(names.begin(), names.end(), name) - names.begin());
}
constexpr Knob kMultistepKnobs[] = {
    {"inner", index_of("greedy_refine", kInner), 0, std::size(kInner) - 1.0,
     "the strategy that decides on predicted loads", kInner},
    {"predictor", index_of("ewma", kPredictor), 0, std::size(kPredictor) - 1.0,
     "how the next load follows from earlier ones", kPredictor},
    {"window", 5, 1, 1000, "phases that are looked at, the current one included"},
    {"smoothing", 0.5, 0, 1, "weight of the newest load in predictor=ewma"},
};
constexpr Strategy kMultistep{
    .name = "multistep",
    .summary = "predicts loads from earlier phases, then an inner strategy decides",
    .source = "Charm++ MultistepLB",
    .complexity = "O(n window) and the inner strategy's",
    .rebalance = multistep,
    .knobs = kMultistepKnobs};

constexpr Strategy kOracles[] = {
    {.name = "anneal",
     .summary = "simulated annealing on the predicted time: slow, shows the practical limit",
     .source = "Kirkpatrick, Gelatt and Vecchi 1983",
     .complexity = "O(sweeps (n degree + p))",
     .rebalance = anneal,
     .knobs = kAnnealKnobs,
     .is_incremental = true,
     .is_oracle = true},
    {.name = "optimal",
     .summary = "the least predicted time, by branch and bound: for a dozen tasks",
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
