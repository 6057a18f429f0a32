#include "poise/strategies/mapping/multisection.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <thread>
#include <utility>

#include "poise/base/random.h"
#include "poise/strategies/treematch/bisection.h"
#include "poise/strategies/treematch/coarsening.h"

namespace poise {

namespace {

using namespace tree_match;

constexpr Vertex kCoarsest = 80;
/// A level that keeps more of its vertices than this is not worth its time.
constexpr double kWorthwhileShrink = 0.95;
/// Smaller graphs are not worth a thread.
constexpr Vertex kLeastForThread = 4'000;

Part part_of(Side side) { return side == Side::either ? kFree : side == Side::right; }
std::vector<Side> mapped(std::span<const Side> coarse, std::span<const Vertex> coarse_of) {
  std::vector<Side> fine(coarse_of.size());
  for (std::size_t v = 0; v < fine.size(); ++v) fine[v] = coarse[coarse_of[v]];
  return fine;
}

/// Cuts a graph in two by way of a graph of half the vertices.
std::vector<Side> multilevel_bisect(const Graph& graph, const Split& split) {
  const double weight = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
  if (graph.num_vertices() > kCoarsest) {
    std::vector<Part> fixed;
    for (const Side side : split.fixed) fixed.push_back(part_of(side));
    const Matching matching = match_heavy_edges(graph, fixed, 3 * weight / kCoarsest);
    if (matching.num_groups < kWorthwhileShrink * graph.num_vertices()) {
      Split coarse = split;
      coarse.fixed.assign(matching.num_groups, Side::either);
      for (Vertex v = 0; v < graph.num_vertices(); ++v)
        if (split.fixed[v] != Side::either) coarse.fixed[matching.group_of[v]] = split.fixed[v];
      std::vector<Side> sides =
          mapped(multilevel_bisect(contract(graph, matching.group_of, matching.num_groups), coarse),
                 matching.group_of);
      improve(graph, split, sides);
      return sides;
    }
  }
  return bisect(graph, split);
}

class Multisection {
 public:
  Multisection(const Machine& machine, const Sections& sections, Vertex num_vertices)
      : machine_(machine), sections_(sections), place_of_(num_vertices) {}

  /// `names[v]` is the vertex of the whole graph that v stands for.
  void split(Graph graph, std::vector<Vertex> names, PlaceId first, PlaceId last,
             unsigned threads) {
    if (last - first == 1) {
      for (const Vertex name : names) place_of_[name] = first;
      return;
    }
    const PlaceId middle = middle_of(first, last);
    const std::vector<Side> sides =
        multilevel_bisect(graph, split_at(graph, names, first, middle, last));
    std::vector<Vertex> is_right(graph.num_vertices());
    for (Vertex v = 0; v < graph.num_vertices(); ++v) is_right[v] = sides[v] == Side::right;
    const Groups groups = arrange(is_right, 2);
    Graph halves[] = {subgraph(graph, groups, 0), subgraph(graph, groups, 1)};
    std::vector<Vertex> names_of[2];
    for (const Vertex side : {0u, 1u})
      for (const Vertex v : groups.of(side)) names_of[side].push_back(names[v]);
    const bool is_worth_a_thread = threads > 1 && graph.num_vertices() >= kLeastForThread;
    graph = {};
    const auto left = [&](unsigned of_left) {
      split(std::move(halves[0]), std::move(names_of[0]), first, middle, of_left);
    };
    const auto right = [&](unsigned of_right) {
      split(std::move(halves[1]), std::move(names_of[1]), middle, last, of_right);
    };
    if (!is_worth_a_thread) {
      left(1);
      right(1);
      return;
    }
    std::jthread other(left, threads / 2);
    right(threads - threads / 2);
  }

  std::vector<PlaceId> result() && { return std::move(place_of_); }

 private:
  /// Halves the groups of the coarsest level that has several in the range.
  PlaceId middle_of(PlaceId first, PlaceId last) const {
    for (std::size_t l = 0; l < machine_.levels().size(); ++l) {
      const std::uint32_t one = machine_.group_of(l, first), other = machine_.group_of(l, last - 1);
      if (one != other) return machine_.levels()[l].first_place[one + (other - one + 1) / 2];
    }
    return first + (last - first) / 2;
  }

  double sum_of_shares(PlaceId first, PlaceId last) const {
    const auto begin = sections_.shares.begin();
    return std::accumulate(begin + first, begin + last, 0.0);
  }

  Split split_at(const Graph& graph, std::span<const Vertex> names, PlaceId first, PlaceId middle,
                 PlaceId last) const {
    const double left = sum_of_shares(first, middle), right = sum_of_shares(middle, last);
    const double weight = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
    const double fraction = left + right > 0 ? left / (left + right) : 0.5;
    // Shares are in the graph's weights: what is left of the tolerance, for this cut's part.
    const double room = weight > 0 ? (1 + sections_.tolerance) * (left + right) / weight : 1;
    const int cuts = std::bit_width(last - first - 1);
    const double tolerance = room > 1 ? portable_exp(portable_log(room) / cuts) - 1 : 0;
    Split split{std::vector<Side>(names.size(), Side::either), weight * fraction,
                tolerance * weight * std::min(fraction, 1 - fraction), sections_.attempts};
    if (sections_.fixed.empty()) return split;
    for (std::size_t v = 0; v < names.size(); ++v)
      if (const Part place = sections_.fixed[names[v]]; place != kFree)
        split.fixed[v] = place < middle ? Side::left : Side::right;
    return split;
  }

  const Machine& machine_;
  const Sections& sections_;
  std::vector<PlaceId> place_of_;
};

}  // namespace

std::vector<PlaceId> multisection(const Machine& machine, const Graph& graph,
                                  const Sections& sections) {
  Multisection cutting(machine, sections, graph.num_vertices());
  std::vector<Vertex> names(graph.num_vertices());
  std::iota(names.begin(), names.end(), 0);
  cutting.split(graph, std::move(names), 0, machine.num_places(), sections.threads);
  return std::move(cutting).result();
}

}  // namespace poise
