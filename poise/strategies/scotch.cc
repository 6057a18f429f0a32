/// Scotch: maps the graph of tasks onto the tree of the machine, by Scotch; or remaps it.
///
/// Pellegrini and Roman, "Scotch: a software package for static mapping by dual recursive
/// bipartitioning of process and architecture graphs", 1996; for remap=1 Fourestier and Pellegrini,
/// "Adaptation au repartitionnement de graphes d'une méthode d'optimisation globale par diffusion",
/// 2011. Messages cost their seconds times the machine's factors, levels of unlike groups and
/// places of several speeds aside: there the places get their parts, but distances do not count.
/// Pinned tasks, and what keeps places busy, are vertices that may not move. With remap=1 a
/// migration costs its seconds times `migration`, and the current placement is where Scotch starts.
/// The problem's seed counts. O((n + m) log p).
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <vector>

// Wants the two headers before it.
#include <scotch.h>

#include "poise/base/error.h"
#include "poise/strategies/strategy.h"
#include "poise/strategies/task_graph.h"

namespace poise {

namespace {

/// Scotch sums weights, and products of weights and distances, in its integers of 32 bits.
constexpr double kTotalLoad = 1e9;
constexpr double kTotalCost = 1e9;
/// Distances are whole numbers; a factor of 1 is this many where there is room.
constexpr double kFinestFactor = 8;
constexpr SCOTCH_Num kFree = -1;

/// Scotch has one voice for errors.
std::mutex scotch_in_use;
std::string last_error;

/// What Scotch made must be unmade, however a function is left.
struct Architecture {
  Architecture() { SCOTCH_archInit(&arch); }
  ~Architecture() { SCOTCH_archExit(&arch); }
  SCOTCH_Arch arch;
};
struct Graph {
  Graph() { SCOTCH_graphInit(&graph); }
  ~Graph() { SCOTCH_graphExit(&graph); }
  SCOTCH_Graph graph;
};
/// One thread and random numbers of its own: the same map every time.
struct Context {
  explicit Context(std::uint64_t seed) {
    SCOTCH_contextInit(&context);
    SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextRandomClone(&context);
    SCOTCH_contextRandomSeed(&context, static_cast<SCOTCH_Num>(seed & 0x7fffffff));
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

void check_status(int status, const char* step) {
  if (status != 0)
    fail("strategy scotch: {} failed: {}", step,
         last_error.empty() ? "no reason given" : last_error);
}

bool has_equal_groups(const Level& level) {
  const PlaceId size = level.first_place[1];
  for (std::uint32_t g = 0; g < level.num_groups(); ++g)
    if (level.first_place[g + 1] - level.first_place[g] != size) return false;
  return true;
}

/// The levels that a message can cross, as Scotch's tree of leaves takes them.
struct Tree {
  std::vector<SCOTCH_Num> children;  // per level, of each group above
  std::vector<SCOTCH_Num> links;     // per level, what crossing it adds to the distance
};

/// The mean factor of messages between place 0 and the other groups of this level in its group.
double mean_factor(const Machine& machine, const Level& level, PlaceId last) {
  double sum = 0;
  std::uint32_t groups = 0;
  for (std::uint32_t g = 1; g < level.num_groups() && level.first_place[g] < last; ++g, ++groups)
    sum += machine.message_factor(level.first_place[g], 0);
  return sum / groups;
}

/// Empty where the machine is no tree of equal groups and equal places.
Tree tree_of(const Machine& machine, double longest) {
  if (!machine.has_equal_speeds() ||
      !std::all_of(machine.levels().begin(), machine.levels().end(), has_equal_groups))
    return {};
  Tree tree;
  std::vector<double> factors;
  PlaceId size = machine.num_places();
  for (const Level& level : machine.levels()) {
    const PlaceId size_below = level.first_place[1];
    if (size_below == size) continue;
    tree.children.push_back(static_cast<SCOTCH_Num>(size / size_below));
    factors.push_back(mean_factor(machine, level, size));
    size = size_below;
  }
  // A distance is the sum of the links from its level down.
  const double largest = *std::max_element(factors.begin(), factors.end());
  const double scale = std::min(kFinestFactor, longest / std::max(largest, 1.0));
  factors.push_back(0);
  for (std::size_t l = 0; l + 1 < factors.size(); ++l) {
    const double link = std::floor(scale * (factors[l] - factors[l + 1]) + 0.5);
    const double least = l + 2 == factors.size() ? 1 : 0;
    tree.links.push_back(static_cast<SCOTCH_Num>(std::max(least, link)));
  }
  return tree;
}

/// Returns the longest distance.
double describe(const Machine& machine, double longest, SCOTCH_Arch& arch) {
  const Tree tree = tree_of(machine, longest);
  if (!tree.children.empty()) {
    check_status(SCOTCH_archTleaf(&arch, static_cast<SCOTCH_Num>(tree.children.size()),
                                  tree.children.data(), tree.links.data()),
                 "the machine's tree");
    return std::accumulate(tree.links.begin(), tree.links.end(), 0.0);
  }
  std::vector<double> speeds;
  for (const Place& place : machine.places()) speeds.push_back(place.speed);
  const std::vector<std::int32_t> weights = whole_weights(speeds, 1000.0 * machine.num_places());
  std::vector<SCOTCH_Num> at_least_1;
  for (const std::int32_t weight : weights) at_least_1.push_back(std::max(weight, 1));
  check_status(
      SCOTCH_archCmpltw(&arch, static_cast<SCOTCH_Num>(machine.num_places()), at_least_1.data()),
      "the machine's places");
  return 1;
}

/// Tasks, then one vertex for each place's background load.
struct Vertices {
  std::vector<SCOTCH_Num> weight;
  std::vector<SCOTCH_Num> place;  // kFree, or where the vertex stays
};

Vertices vertices_of(const Problem& problem) {
  const Workload& workload = problem.workload;
  Vertices vertices;
  std::vector<double> loads_s;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    const Task& task = workload.tasks[t];
    loads_s.push_back(task.load_s);
    vertices.place.push_back(task.movable ? kFree : static_cast<SCOTCH_Num>(problem.current.of(t)));
  }
  for (PlaceId p = 0; p < workload.background_s.size(); ++p) {
    if (workload.background_s[p] == 0) continue;
    loads_s.push_back(workload.background_s[p] * problem.machine.speed_of(p));
    vertices.place.push_back(static_cast<SCOTCH_Num>(p));
  }
  for (const std::int32_t weight : whole_weights(loads_s, kTotalLoad))
    vertices.weight.push_back(std::max(weight, 1));
  return vertices;
}

/// What Scotch is to pay, per unit of distance, for moving each vertex, in the unit of its edges.
std::vector<SCOTCH_Num> migration_weights(const Problem& problem, const Vertices& vertices,
                                          double weight, double edge_total, double longest) {
  double messages_s = 0;
  for (const Message& message : problem.workload.messages)
    if (message.from != message.to)
      messages_s += static_cast<double>(message.count) * problem.costs.seconds_per_message +
                    static_cast<double>(message.bytes) * problem.costs.seconds_per_byte;
  std::vector<double> costs(vertices.weight.size(), 0);
  double sum = 0;
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    const double migration_s = static_cast<double>(problem.workload.tasks[t].bytes) *
                               problem.costs.seconds_per_migrated_byte;
    // An edge is in two rows, so its seconds are half of edge_total's.
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

/// Scotch's rows hold pointers into these.
struct Arrays {
  Vertices vertices;
  std::vector<SCOTCH_Num> first, neighbour, edge_weight;
};

Arrays arrays_of(const Problem& problem, double edge_total) {
  std::vector<TaskId> tasks(problem.workload.num_tasks());
  std::iota(tasks.begin(), tasks.end(), 0);
  const TaskGraph rows = task_graph(problem, tasks, edge_total);
  Arrays arrays{vertices_of(problem),
                {rows.first.begin(), rows.first.end()},
                {rows.neighbour.begin(), rows.neighbour.end()},
                {rows.edge_weight.begin(), rows.edge_weight.end()}};
  arrays.first.resize(arrays.vertices.weight.size() + 1, arrays.first.back());
  return arrays;
}

void build(const Arrays& arrays, Graph& graph) {
  check_status(
      SCOTCH_graphBuild(&graph.graph, 0, static_cast<SCOTCH_Num>(arrays.vertices.weight.size()),
                        arrays.first.data(), nullptr, arrays.vertices.weight.data(), nullptr,
                        static_cast<SCOTCH_Num>(arrays.neighbour.size()), arrays.neighbour.data(),
                        arrays.edge_weight.data()),
      "the graph of tasks");
}

/// The place of each vertex.
std::vector<SCOTCH_Num> map(const Problem& problem, const Knobs& knobs) {
  const std::scoped_lock lock(scotch_in_use);
  last_error.clear();
  Architecture architecture;
  const double entries = 2.0 * static_cast<double>(problem.workload.messages.size()) + 1;
  const double longest =
      describe(problem.machine, std::max(1.0, kTotalCost / entries), architecture.arch);
  const double edge_total = kTotalCost / longest;
  const Arrays arrays = arrays_of(problem, edge_total);
  Context context(problem.seed);
  Graph graph, bound;
  build(arrays, graph);
  check_status(SCOTCH_contextBindGraph(&context.context, &graph.graph, &bound.graph),
               "the context");
  Plan plan;
  check_status(SCOTCH_stratGraphMapBuild(&plan.strategy, effort_of(knobs),
                                         static_cast<SCOTCH_Num>(problem.machine.num_places()),
                                         knobs["tolerance"] - 1),
               "the plan");
  std::vector<SCOTCH_Num> place = arrays.vertices.place;
  if (knobs["remap"] == 0) {
    check_status(
        SCOTCH_graphMapFixed(&bound.graph, &architecture.arch, &plan.strategy, place.data()),
        "mapping");
    return place;
  }
  const auto tasks = problem.current.places();
  std::vector<SCOTCH_Num> before(tasks.begin(), tasks.end());
  before.insert(before.end(), place.begin() + static_cast<std::ptrdiff_t>(tasks.size()),
                place.end());
  const std::vector<SCOTCH_Num> migration =
      migration_weights(problem, arrays.vertices, knobs["migration"], edge_total, longest);
  check_status(SCOTCH_graphRemapFixed(&bound.graph, &architecture.arch, before.data(), 1,
                                      migration.data(), &plan.strategy, place.data()),
               "remapping");
  return place;
}

}  // namespace

Placement scotch(const Problem& problem, const Knobs& knobs) {
  Placement placement = problem.current;
  if (problem.machine.num_places() == 1) return placement;
  const std::vector<SCOTCH_Num> place = map(problem, knobs);
  for (TaskId t = 0; t < placement.num_tasks(); ++t)
    if (problem.workload.tasks[t].movable) placement.move(t, static_cast<PlaceId>(place[t]));
  return placement;
}

}  // namespace poise

// Scotch leaves it to its users how errors are shown: its own functions print, and some exit.
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
