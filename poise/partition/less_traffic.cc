// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/less_traffic.h"

#include <numeric>
#include <utility>
#include <vector>

#include "poise/partition/traffic_descent.h"
#include "poise/partition/traffic_graph.h"

namespace poise {

Placement with_less_traffic(const Problem& problem, Placement placement, const Tuning& tuning) {
  const graphs::Graph graph = traffic_graph(problem);
  std::vector<double> caps(problem.machine.num_places(), 0);
  for (TaskId t = 0; t < graph.num_vertices(); ++t) caps[placement.of(t)] += graph.weight[t];
  for (double& cap : caps) cap *= 1 + tuning.tolerance;
  std::vector<PlaceId> places(caps.size());
  std::iota(places.begin(), places.end(), 0);
  const Distances distances(problem);
  const std::vector<graphs::Part> fixed = fixed_parts(problem);
  cycle_on_traffic({distances, places, graph, caps, fixed, 0, tuning}, placement);
  return placement;
}

}  // namespace poise
