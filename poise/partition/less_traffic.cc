#include "poise/partition/less_traffic.h"

#include <numeric>
#include <utility>
#include <vector>

#include "poise/partition/traffic_descent.h"
#include "poise/partition/traffic_graph.h"

namespace poise {

namespace {

/// What a place that is as busy as all others may take on while traffic falls.
constexpr double kSlack = 0.005;

}  // namespace

Placement with_less_traffic(const Problem& problem, Placement placement) {
  const graphs::Graph graph = traffic_graph(problem);
  std::vector<double> caps(problem.machine.num_places(), 0);
  for (TaskId t = 0; t < graph.num_vertices(); ++t) caps[placement.of(t)] += graph.weight[t];
  for (double& cap : caps) cap *= 1 + kSlack;
  std::vector<PlaceId> places(caps.size());
  std::iota(places.begin(), places.end(), 0);
  cycle_on_traffic(Distances(problem), places, graph, caps, fixed_parts(problem), 0, placement);
  return placement;
}

}  // namespace poise
