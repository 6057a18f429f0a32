// SPDX-License-Identifier: BSD-3-Clause
/// Scotch: maps the graph of tasks onto the machine's tree with the library Scotch, from scratch or
/// starting from the current map.
///
/// Pellegrini and Roman, "Scotch: a software package for static mapping by dual recursive
/// bipartitioning of process and architecture graphs", 1996; for remap=1 Fourestier and Pellegrini,
/// "Adaptation au repartitionnement de graphes d'une méthode d'optimisation globale par diffusion",
/// 2011. A message costs its seconds times the machine's factor at the level that it crosses.
/// Pinned tasks are fixed vertices without weight, because Scotch 7.0.3 ignores their weight on
/// most machines. Instead, pinned tasks and background load reduce the size of their place. With
/// remap=1, Scotch starts from the current placement, and a migration costs its seconds times
/// `migration`. Uses the problem's seed. O((n + m) log p) for n tasks, m messages and p places.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <locale.h>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <vector>

// scotch.h uses the integer types of <cstdint> without including that header.
#include <scotch.h>

#include "poise/base/error.h"
#include "poise/partition/task_graph.h"
#include "poise/placement/fair_shares.h"
#include "poise/strategies/strategy.h"

namespace poise {

namespace {

/// The sum of the integer loads is about kTotalLoad. Weights that Scotch multiplies by distances
/// are scaled such that the sum of the products is at most about kTotalCost. Scotch computes both
/// sums in 32-bit integers.
constexpr double kTotalLoad = 1e9;
constexpr double kTotalCost = 1e9;
/// Scotch's distances are integers, so the machine's factors are multiplied by this number, or by a
/// smaller one if the largest distance would otherwise be too large.
constexpr double kFinestFactor = 8;
constexpr SCOTCH_Num kFree = -1;

/// Serialises calls of Scotch, whose function for error messages is shared by all threads.
std::mutex scotch_in_use;
std::string last_error;

/// Frees a Scotch object at the end of its scope.
struct ScotchGraph {
  ScotchGraph() { SCOTCH_graphInit(&graph); }
  ~ScotchGraph() { SCOTCH_graphExit(&graph); }
  SCOTCH_Graph graph;
};
/// The arrays of a graph. Scotch keeps pointers to them.
struct Rows {
  std::vector<SCOTCH_Num> weight, first, neighbour, edge_weight;
};
struct Architecture {
  Architecture() { SCOTCH_archInit(&arch); }
  ~Architecture() { SCOTCH_archExit(&arch); }
  SCOTCH_Arch arch;
  Rows rows;  // the machine as a graph
  ScotchGraph graph;
};
/// Gives Scotch a single thread and a random number generator of its own, so that the map is always
/// the same.
struct Context {
  explicit Context(std::uint64_t seed) {
    SCOTCH_contextInit(&context);
    SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextRandomClone(&context);
    SCOTCH_contextRandomSeed(&context, seed & 0x7fffffff);
    SCOTCH_contextRandomReset(&context);
    SCOTCH_contextThreadSpawn(&context, 1, nullptr);
  }
  ~Context() { SCOTCH_contextExit(&context); }
  SCOTCH_Context context;
};
struct Plan {
  Plan() { SCOTCH_stratInit(&strategy); }
  ~Plan() { SCOTCH_stratExit(&strategy); }
  SCOTCH_Strat strategy;
};

/// Makes this thread write decimal points even if the program has chosen a locale with decimal
/// commas. Scotch writes numbers into a text that describes its method, and then fails to read this
/// text if the numbers have commas.
class DecimalPoints {
 public:
  DecimalPoints() : own_(newlocale(LC_ALL_MASK, "C", nullptr)), before_(uselocale(own_)) {}
  ~DecimalPoints() {
    uselocale(before_);
    if (own_ != nullptr) freelocale(own_);
  }
  DecimalPoints(const DecimalPoints&) = delete;
  DecimalPoints& operator=(const DecimalPoints&) = delete;

 private:
  locale_t own_, before_;
};

void check_status(int status, const char* step) {
  if (status != 0)
    fail("strategy scotch: {} failed: {}", step,
         last_error.empty() ? "no reason given" : last_error);
}

void build(const Rows& rows, ScotchGraph& graph, const char* what) {
  check_status(SCOTCH_graphBuild(&graph.graph, 0, rows.weight.size(), rows.first.data(), nullptr,
                                 rows.weight.data(), nullptr, rows.neighbour.size(),
                                 rows.neighbour.data(), rows.edge_weight.data()),
               what);
}

/// Returns the levels of the machine that divide the places, from the coarsest to that of single
/// places.
std::vector<const Level*> levels_that_split(const Machine& machine) {
  std::vector<const Level*> splitting;
  std::uint32_t groups = 1;
  for (const Level& level : machine.levels()) {
    if (level.num_groups() == groups) continue;
    groups = level.num_groups();
    splitting.push_back(&level);
  }
  return splitting;
}

/// Estimates the mean factor of messages between groups of `level` that are in the same group of
/// `above` (or in the same machine, if `above` is null). Looks only at the first group of `above`
/// that contains several groups of `level`, and there only at messages from the other groups of
/// `level` to the first one.
double mean_factor(const Machine& machine, const Level* above, const Level& level) {
  PlaceId first = 0, last = machine.num_places();
  std::uint32_t g = 0;
  for (std::uint32_t outer = 0; above != nullptr && outer < above->num_groups(); ++outer) {
    first = above->first_place[outer], last = above->first_place[outer + 1];
    while (level.first_place[g] < first) ++g;
    if (level.first_place[g + 1] < last) break;
  }
  double sum = 0;
  std::uint32_t others = 0;
  for (++g; g < level.num_groups() && level.first_place[g] < last; ++g, ++others)
    sum += machine.message_factor(level.first_place[g], first);
  return sum / others;
}

/// Returns an integer length for each level. The distance between two places is the sum of the
/// lengths from the coarsest level that separates them to the finest level; it is at most
/// `longest`.
std::vector<SCOTCH_Num> links_of(const Machine& machine, const std::vector<const Level*>& levels,
                                 double longest) {
  std::vector<double> factors;
  for (std::size_t l = 0; l < levels.size(); ++l)
    factors.push_back(mean_factor(machine, l == 0 ? nullptr : levels[l - 1], *levels[l]));
  const double largest = *std::max_element(factors.begin(), factors.end());
  const double scale = std::min(kFinestFactor, longest / std::max(largest, 1.0));
  factors.push_back(0);
  std::vector<SCOTCH_Num> links;
  for (std::size_t l = 0; l + 1 < factors.size(); ++l) {
    const double link = std::floor(scale * (factors[l] - factors[l + 1]) + 0.5);
    const double least = l + 2 == factors.size() ? 1 : 0;
    links.push_back(static_cast<SCOTCH_Num>(std::max(least, link)));
  }
  return links;
}

/// For each level, the number of its groups in a group of the level above. Empty if groups of one
/// level differ in size.
std::vector<SCOTCH_Num> children_of(const Machine& machine,
                                    const std::vector<const Level*>& levels) {
  std::vector<SCOTCH_Num> children;
  PlaceId size = machine.num_places();
  for (const Level* level : levels) {
    const PlaceId below = level->first_place[1];
    for (std::uint32_t g = 0; g < level->num_groups(); ++g)
      if (level->first_place[g + 1] - level->first_place[g] != below) return {};
    children.push_back(size / below);
    size = below;
  }
  return children;
}

/// The machine's tree as a graph for Scotch. The vertices are, in this order: the places; the
/// groups of each level, the finest level first; and the root. The weight of a place is the share
/// of the movable work that it should get. The edge from a vertex to its parent has the length in
/// `links` for the vertex's level. A path between two places goes up and down the tree, so it is
/// twice as long as the distance in Scotch's own form of trees. Edges between siblings,
/// which are as long as the path over their parent, let Scotch join many siblings in each step of
/// its coarsening. Without these edges it joins one child in each step. With more than 31 children
/// its 32-bit numbers of joined vertices then overflow, and a loop over fixed tasks never ends.
Rows tree_rows(const Problem& problem, const std::vector<const Level*>& levels,
               const std::vector<SCOTCH_Num>& links) {
  const Machine& machine = problem.machine;
  const std::vector<double> shares = fair_shares(machine, problem.workload, problem.current);
  Rows rows;
  for (const std::int32_t weight : whole_weights(shares, 1000.0 * machine.num_places()))
    rows.weight.push_back(std::max(weight, 1));
  struct Join {
    SCOTCH_Num inner, outer, link;
  };
  std::vector<Join> joins;
  SCOTCH_Num first_inner = 0, first_outer = machine.num_places();
  for (std::size_t l = levels.size(); l-- > 0;) {
    const std::uint32_t outers = l == 0 ? 1 : levels[l - 1]->num_groups();
    for (std::uint32_t g = 0, outer = 0; g < levels[l]->num_groups(); ++g) {
      const std::uint32_t outer_before = outer;
      while (l > 0 && levels[l - 1]->first_place[outer + 1] <= levels[l]->first_place[g]) ++outer;
      const SCOTCH_Num link = std::max(links[l], 1);
      joins.emplace_back(first_inner + g, first_outer + outer, link);
      if (g > 0 && outer == outer_before)
        joins.emplace_back(first_inner + g - 1, first_inner + g, 2 * link);
    }
    first_inner = first_outer, first_outer += outers;
  }
  rows.weight.resize(first_outer, 1);
  rows.first.assign(rows.weight.size() + 1, 0);
  for (const Join& join : joins) ++rows.first[join.inner + 1], ++rows.first[join.outer + 1];
  std::partial_sum(rows.first.begin(), rows.first.end(), rows.first.begin());
  rows.neighbour.resize(2 * joins.size()), rows.edge_weight.resize(2 * joins.size());
  std::vector<SCOTCH_Num> next = rows.first;
  for (const Join& join : joins)
    for (const auto& [from, to] : {std::pair(join.inner, join.outer), {join.outer, join.inner}}) {
      rows.neighbour[next[from]] = to;
      rows.edge_weight[next[from]++] = join.link;
    }
  return rows;
}

/// True if every place can run an equal share of the tasks.
bool can_share_evenly(const Problem& problem) {
  const Workload& workload = problem.workload;
  return problem.machine.has_equal_speeds() &&
         std::ranges::all_of(workload.tasks, [](const Task& task) { return task.movable; }) &&
         std::ranges::all_of(workload.background_s, [](double load_s) { return load_s == 0; });
}

/// Describes the machine to Scotch and returns the longest distance. Scotch has a special form for
/// trees whose places are equal and whose groups are of equal size. Other trees are given as
/// graphs.
double describe(const Problem& problem, double longest, Context& context,
                Architecture& architecture) {
  const Machine& machine = problem.machine;
  const std::vector<const Level*> levels = levels_that_split(machine);
  const std::vector<SCOTCH_Num> links = links_of(machine, levels, longest);
  const double sum = std::accumulate(links.begin(), links.end(), 0.0);
  const std::vector<SCOTCH_Num> children = children_of(machine, levels);
  const SCOTCH_Num num_places = machine.num_places();
  if (can_share_evenly(problem) && !children.empty()) {
    check_status(
        SCOTCH_archTleaf(&architecture.arch, children.size(), children.data(), links.data()),
        "the machine's tree");
    return sum;
  }
  architecture.rows = tree_rows(problem, levels, links);
  build(architecture.rows, architecture.graph, "the graph of the machine");
  std::vector<SCOTCH_Num> places(machine.num_places());
  std::iota(places.begin(), places.end(), 0);
  ScotchGraph bound;
  check_status(SCOTCH_contextBindGraph(&context.context, &architecture.graph.graph, &bound.graph),
               "the context");
  check_status(SCOTCH_archBuild2(&architecture.arch, &bound.graph, num_places, places.data()),
               "the machine's places");
  return 2 * sum;
}

/// Returns for each task the place where it is fixed, or kFree.
std::vector<SCOTCH_Num> fixed_places(const Problem& problem) {
  std::vector<SCOTCH_Num> places;
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
    places.push_back(problem.workload.tasks[t].movable ? kFree : problem.current.of(t));
  return places;
}

/// Returns for each task the cost of moving it by one unit of distance. These costs have the same
/// unit as the edge weights that Scotch gets.
std::vector<SCOTCH_Num> migration_weights(const Problem& problem, double weight, double edge_total,
                                          double longest) {
  const UnitCosts unit = unit_costs(problem.machine, problem.costs);
  double messages_s = 0;
  for (const Message& message : problem.workload.messages)
    if (message.from != message.to)
      messages_s += message.count * unit.message_s + message.bytes * unit.byte_s;
  std::vector<double> costs(problem.workload.num_tasks(), 0);
  double sum = 0;
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    const double migration_s =
        problem.workload.tasks[t].bytes * problem.costs.seconds_per_migrated_byte;
    // Each edge is stored in two rows, so edge_total is twice the sum of all edge weights.
    costs[t] = weight * migration_s * (messages_s > 0 ? edge_total / (2 * messages_s) : 1);
    sum += costs[t];
  }
  const double most = kTotalCost / longest;
  const double scale = sum > most ? most / sum : 1;
  std::vector<SCOTCH_Num> weights;
  for (const double cost : costs) weights.push_back(static_cast<SCOTCH_Num>(cost * scale + 0.5));
  return weights;
}

SCOTCH_Num effort_of(const Knobs& knobs) {
  const SCOTCH_Num remap = knobs["remap"] == 0 ? SCOTCH_STRATDEFAULT : SCOTCH_STRATREMAP;
  return remap | (knobs.choice("effort") == "best" ? SCOTCH_STRATQUALITY : SCOTCH_STRATDEFAULT);
}

/// The graph that Scotch maps: a vertex for each task.
Rows rows_of(const Problem& problem, double edge_total) {
  std::vector<double> loads_s;
  for (const Task& task : problem.workload.tasks) loads_s.push_back(task.movable ? task.load_s : 0);
  std::vector<TaskId> tasks(problem.workload.num_tasks());
  std::iota(tasks.begin(), tasks.end(), 0);
  const TaskGraph graph = task_graph(problem, tasks, edge_total);
  Rows rows{{},
            {graph.first.begin(), graph.first.end()},
            {graph.neighbour.begin(), graph.neighbour.end()},
            {graph.edge_weight.begin(), graph.edge_weight.end()}};
  for (const std::int32_t weight : whole_weights(loads_s, kTotalLoad))
    rows.weight.push_back(std::max(weight, 1));
  return rows;
}

/// Runs Scotch and returns the place of each task.
std::vector<SCOTCH_Num> map(const Problem& problem, const Knobs& knobs) {
  const std::scoped_lock lock(scotch_in_use);
  last_error.clear();
  Architecture architecture;
  const double entries = 2.0 * problem.workload.messages.size() + 1;
  Context context(problem.seed);
  const double longest =
      describe(problem, std::max(1.0, kTotalCost / entries), context, architecture);
  const double edge_total = kTotalCost / longest;
  const Rows rows = rows_of(problem, edge_total);
  ScotchGraph graph, bound;
  build(rows, graph, "the graph of tasks");
  check_status(SCOTCH_contextBindGraph(&context.context, &graph.graph, &bound.graph),
               "the context");
  Plan plan;
  const DecimalPoints points;
  check_status(SCOTCH_stratGraphMapBuild(&plan.strategy, effort_of(knobs),
                                         problem.machine.num_places(), knobs["tolerance"] - 1),
               "the plan");
  std::vector<SCOTCH_Num> place = fixed_places(problem);
  if (knobs["remap"] == 0) {
    check_status(
        SCOTCH_graphMapFixed(&bound.graph, &architecture.arch, &plan.strategy, place.data()),
        "mapping");
    return place;
  }
  const auto tasks = problem.current.places();
  std::vector<SCOTCH_Num> before(tasks.begin(), tasks.end());
  const std::vector<SCOTCH_Num> migration =
      migration_weights(problem, knobs["migration"], edge_total, longest);
  check_status(SCOTCH_graphRemapFixed(&bound.graph, &architecture.arch, before.data(), 1,
                                      migration.data(), &plan.strategy, place.data()),
               "remapping");
  return place;
}

}  // namespace

Placement scotch(const Problem& problem, const Knobs& knobs) {
  // A program may link another Scotch, whose integers have another size. The dynamic linker then
  // binds our calls to that Scotch, which would misread our arrays.
  if (SCOTCH_numSizeof() != sizeof(SCOTCH_Num))
    fail(
        "strategy scotch: the program links another Scotch, whose integers have {} bytes instead "
        "of {}; name another strategy",
        SCOTCH_numSizeof(), sizeof(SCOTCH_Num));
  Placement placement = problem.current;
  if (problem.machine.num_places() == 1) return placement;
  const std::vector<SCOTCH_Num> place = map(problem, knobs);
  for (TaskId t = 0; t < placement.num_tasks(); ++t)
    if (problem.workload.tasks[t].movable) placement.move(t, place[t]);
  return placement;
}

}  // namespace poise

// Programs may replace these functions of Scotch. Scotch's own versions print messages, and some of
// them end the program.
extern "C" {
void SCOTCH_errorProg(const char*) {}

void SCOTCH_errorPrint(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  poise::last_error = text;
}

void SCOTCH_errorPrintW(const char*, ...) {}
}
