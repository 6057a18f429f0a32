// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/from_scratch.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "poise/partition/load_cap.h"
#include "poise/partition/multisection.h"
#include "poise/partition/traffic_descent.h"
#include "poise/partition/traffic_graph.h"
#include "poise/placement/arcs.h"
#include "poise/placement/metrics.h"
#include "poise/placement/renaming.h"
#include "poise/search/longest_first.h"

namespace poise {

namespace {

using graphs::Graph;
using graphs::Part;

/// Two values of the traffic, or of the makespan, are taken as equal if the larger one is at most
/// this factor times the smaller one.
constexpr double kEqual = 1 + 1e-9;

double makespan_s(const Problem& problem, const Placement& placement) {
  const std::vector<double> works_s = work_s(problem.machine, problem.workload, placement);
  return *std::max_element(works_s.begin(), works_s.end());
}

/// Lets groups of places of the same size exchange all their tasks, level by level from the
/// coarsest, so that as many tasks as possible are at their places in problem.current. Omits a
/// level if its exchanges would add traffic (possible on a torus) or raise a place above the load
/// cap.
Placement brought_home(const Problem& problem, const Distances& distances, const Graph& graph,
                       std::span<const double> shares, double cap_s, Placement placement) {
  const double most_s = kEqual * std::max(cap_s, makespan_s(problem, placement));
  double now = traffic(distances, graph, placement);
  for (std::size_t level = 0; level < problem.machine.levels().size(); ++level) {
    Placement renamed = renamed_in_level(problem.machine, problem.workload, problem.current,
                                         placement, shares, level);
    const double then = traffic(distances, graph, renamed);
    if (then > kEqual * now || makespan_s(problem, renamed) > most_s) continue;
    placement = std::move(renamed);
    now = then;
  }
  return placement;
}

/// Runs multisection, and then moves tasks until the load cap holds. If large tasks keep a place
/// above the cap, it also tries list scheduling, which considers only loads.
Placement under_cap(const Problem& problem, const Distances& distances, const Graph& graph,
                    double cap_s, const Sections& sections) {
  Placement cut(multisection(distances, problem.machine, graph, sections));
  graphs::hold_load_cap(problem, graph, cap_s, cut, sections.tuning);
  const double cut_s = makespan_s(problem, cut);
  if (cut_s <= kEqual * cap_s) return cut;
  Placement listed = longest_first(problem);
  graphs::hold_load_cap(problem, graph, cap_s, listed, sections.tuning);
  return makespan_s(problem, listed) < cut_s ? listed : cut;
}

}  // namespace

Placement placed_from_scratch(const Problem& problem, const Effort& effort, const Tuning& tuning) {
  const Graph graph = traffic_graph(problem, Arcs(problem.workload));
  return placed_from_scratch(problem, graph, effort, tuning);
}

Placement placed_from_scratch(const Problem& problem, const Graph& graph, const Effort& effort,
                              const Tuning& tuning) {
  const double tolerance = tuning.tolerance;
  const double cap_s = load_cap_s(problem, 1 + tolerance);
  const Distances distances(problem);
  std::vector<double> shares = shares_under_cap(problem, cap_s, tolerance);
  const std::vector<Part> fixed = fixed_parts(problem);
  Placement placement =
      under_cap(problem, distances, graph, cap_s,
                {shares, tolerance, fixed, effort.attempts, effort.climbs, effort.threads, tuning});
  for (double& share : shares) share *= 1 + tolerance;
  std::vector<PlaceId> places(shares.size());
  std::iota(places.begin(), places.end(), 0);
  descend_on_traffic({distances, places, graph, shares, fixed, effort.climbs, tuning}, placement);
  const double most_s = kEqual * std::max(cap_s, makespan_s(problem, placement));
  if (makespan_s(problem, problem.current) <= most_s &&
      traffic(distances, graph, problem.current) <= kEqual * traffic(distances, graph, placement))
    return problem.current;
  return fixed.empty()
             ? brought_home(problem, distances, graph, shares, cap_s, std::move(placement))
             : placement;
}

}  // namespace poise
