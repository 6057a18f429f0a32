// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/multisection.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "poise/base/in_parallel.h"
#include "poise/base/random.h"
#include "poise/partition/multilevel_bisection.h"
#include "poise/partition/traffic_descent.h"
#include "poise/placement/placement.h"

namespace poise {

namespace {

using namespace graphs;

double weight_of(const Graph& graph) {
  return std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
}

double power(double base, double exponent) { return portable_exp(portable_log(base) * exponent); }

/// Divides the tolerance among nested cuts. All cuts together may make a part exceed its share by
/// the factor f. The cuts between the `num_groups` groups may use the factor f^(1 - k), and the
/// cuts inside the groups the remaining factor f^k. Returns k. Of c nested cuts, the first gets
/// f^(2 / (c + 1)). This is more than an equal part, f^(1 / c), because messages across the first
/// cut are the most expensive.
double kept(std::uint32_t num_places, std::uint32_t num_groups) {
  const int cuts = std::bit_width(num_places - 1);
  const int inside = std::bit_width((num_places - 1) / num_groups);
  return 1.0 * (inside * (inside + 1)) / (cuts * (cuts + 1));
}

/// Groups of one level, into which a range of places is divided, and the vertices that must stay in
/// one of these groups.
struct Siblings {
  std::vector<PlaceId> starts;  // first place of each group, then one past the last
  std::vector<Part> fixed;      // per vertex its group or kFree; empty: all are free

  Part count() const { return starts.size() - 1; }
  std::span<const PlaceId> places() const { return std::span(starts).first(count()); }
};

class Multisection {
 public:
  Multisection(const Distances& distances, const Machine& machine, const Sections& sections,
               Vertex num_vertices)
      : distances_(distances), machine_(machine), sections_(sections), place_of_(num_vertices) {}

  /// Places the vertices of a subgraph on the places [first, last). names[v] is the number of
  /// vertex v in the whole graph.
  void spread(const Graph& graph, std::span<const Vertex> names, PlaceId first, PlaceId last,
              unsigned threads) {
    if (last - first == 1) {
      for (const Vertex name : names) place_of_[name] = first;
      return;
    }
    const Siblings siblings = siblings_in(first, last, names);
    std::vector<Vertex> all(names.size());
    std::iota(all.begin(), all.end(), 0);
    Placement group_of(names.size());
    halve(graph, all, siblings, 0, siblings.count(), threads, group_of);
    // If the groups are single places, the division among them is not improved here, because the
    // caller improves the placement on all places together.
    const bool are_places = last - first == siblings.count();
    if (sections_.climbs > 0 && siblings.count() > 2 && !are_places)
      cycle_on_traffic({distances_, siblings.places(), graph, caps_of(graph, siblings),
                        siblings.fixed, sections_.climbs, sections_.tuning},
                       group_of);
    const Groups groups = arrange(group_of.places(), siblings.count());
    if (graph.num_vertices() < sections_.tuning.min_vertices_for_thread) threads = 1;
    spread_each(graph, names, groups, siblings.starts, 0, siblings.count(), threads);
  }

  std::vector<PlaceId> result() && { return std::move(place_of_); }

 private:
  /// Spreads the groups [first, last) over their places. Each group's subgraph is made only when it
  /// is needed, so that a thread holds only one subgraph at a time.
  void spread_each(const Graph& graph, std::span<const Vertex> names, const Groups& groups,
                   std::span<const PlaceId> starts, Part first, Part last, unsigned threads) {
    if (last - first == 1) {
      spread(subgraph(graph, groups, first), named(groups.of(first), names), starts[first],
             starts[last], threads);
      return;
    }
    const Part middle = first + (last - first + 1) / 2;
    run_both(
        threads,
        [&](unsigned some) { spread_each(graph, names, groups, starts, first, middle, some); },
        [&](unsigned some) { spread_each(graph, names, groups, starts, middle, last, some); });
  }

  static std::vector<Vertex> named(std::span<const Vertex> vertices,
                                   std::span<const Vertex> names) {
    std::vector<Vertex> result;
    result.reserve(vertices.size());
    for (const Vertex v : vertices) result.push_back(names[v]);
    return result;
  }

  /// Divides the vertices of the graph among the sibling groups: cuts the graph in two, then each
  /// half again, until every group has got its vertices.
  void halve(const Graph& graph, std::span<const Vertex> names, const Siblings& siblings,
             Part first, Part last, unsigned threads, Placement& group_of) const {
    const Part middle = first + (last - first + 1) / 2;
    const Groups groups = arrange(halves_of(graph, names, siblings, first, middle, last), 2);
    const auto go_on = [&](Vertex side, Part from, Part to, unsigned some) {
      const std::vector<Vertex> inside = named(groups.of(side), names);
      if (to - from > 1)
        halve(subgraph(graph, groups, side), inside, siblings, from, to, some, group_of);
      else
        for (const Vertex v : inside) group_of.move(v, from);
    };
    run_both(
        graph.num_vertices() < sections_.tuning.min_vertices_for_thread ? 1 : threads,
        [&](unsigned some) { go_on(0, first, middle, some); },
        [&](unsigned some) { go_on(1, middle, last, some); });
  }

  /// Cuts the vertices of the graph in two; returns 0 or 1 per vertex.
  std::vector<Vertex> halves_of(const Graph& graph, std::span<const Vertex> names,
                                const Siblings& siblings, Part first, Part middle,
                                Part last) const {
    const std::vector<Side> sides = multilevel_bisect(
        graph, split_at(graph, names, siblings, first, middle, last), sections_.tuning);
    std::vector<Vertex> halves(graph.num_vertices());
    for (Vertex v = 0; v < graph.num_vertices(); ++v) halves[v] = sides[v] == Side::right;
    return halves;
  }

  /// The groups of the coarsest level of the machine that divides these places into several groups.
  Siblings siblings_in(PlaceId first, PlaceId last, std::span<const Vertex> names) const {
    Siblings siblings;
    for (const Level& level : machine_.levels()) {
      const auto begin = std::ranges::lower_bound(level.first_place, first);
      const auto end = std::ranges::lower_bound(level.first_place, last);
      if (end - begin < 2) continue;
      siblings.starts.assign(begin, end + 1);
      break;
    }
    if (siblings.starts.empty())
      for (PlaceId p = first; p <= last; ++p) siblings.starts.push_back(p);
    if (sections_.fixed.empty()) return siblings;
    for (const Vertex name : names) {
      const Part place = sections_.fixed[name];
      const auto after = std::ranges::upper_bound(siblings.starts, place);
      siblings.fixed.push_back(place == kFree ? kFree : after - siblings.starts.begin() - 1);
    }
    return siblings;
  }

  double sum_of_shares(PlaceId first, PlaceId last) const {
    const auto begin = sections_.shares.begin();
    return std::accumulate(begin + first, begin + last, 0.0);
  }

  /// Returns the maximum weight of these places (the sum of their shares plus tolerance), divided
  /// by the weight of this graph, but at least 1. Earlier cuts may have used a part of the
  /// tolerance. Shares have the same unit as the weights of the graph.
  double room_of(const Graph& graph, PlaceId first, PlaceId last) const {
    const double weight = weight_of(graph);
    const double most = (1 + sections_.tolerance) * sum_of_shares(first, last);
    return weight > 0 ? std::max(1.0, most / weight) : 1;
  }

  Split split_at(const Graph& graph, std::span<const Vertex> names, const Siblings& siblings,
                 Part first, Part middle, Part last) const {
    const PlaceId begin = siblings.starts[first], end = siblings.starts[last];
    const double left = sum_of_shares(begin, siblings.starts[middle]);
    const double both = sum_of_shares(begin, end);
    const double weight = weight_of(graph);
    const double fraction = both > 0 ? left / both : 0.5;
    const double tolerance = power(room_of(graph, begin, end), 1 - kept(end - begin, 2)) - 1;
    Split split{std::vector<Side>(names.size(), Side::either), weight * fraction,
                tolerance * weight * std::min(fraction, 1 - fraction), sections_.attempts};
    if (siblings.fixed.empty()) return split;
    for (std::size_t v = 0; v < names.size(); ++v)
      if (const Part group = siblings.fixed[names[v]]; group != kFree)
        split.fixed[v] = group < middle ? Side::left : Side::right;
    return split;
  }

  /// The maximum weight of each group: its share, plus the part of the tolerance that is reserved
  /// for the cuts between these groups.
  std::vector<double> caps_of(const Graph& graph, const Siblings& siblings) const {
    const PlaceId first = siblings.starts.front(), last = siblings.starts.back();
    const double sum = sum_of_shares(first, last);
    const double room =
        power(room_of(graph, first, last), 1 - kept(last - first, siblings.count()));
    const double scale = sum > 0 ? room * weight_of(graph) / sum : 0;
    std::vector<double> caps;
    for (Part group = 0; group < siblings.count(); ++group)
      caps.push_back(scale * sum_of_shares(siblings.starts[group], siblings.starts[group + 1]));
    return caps;
  }

  const Distances& distances_;
  const Machine& machine_;
  const Sections& sections_;
  std::vector<PlaceId> place_of_;
};

}  // namespace

std::vector<PlaceId> multisection(const Distances& distances, const Machine& machine,
                                  const Graph& graph, const Sections& sections) {
  Multisection cutting(distances, machine, sections, graph.num_vertices());
  std::vector<Vertex> names(graph.num_vertices());
  std::iota(names.begin(), names.end(), 0);
  cutting.spread(graph, names, 0, machine.num_places(), sections.threads);
  return std::move(cutting).result();
}

}  // namespace poise
