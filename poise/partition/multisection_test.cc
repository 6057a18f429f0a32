// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/multisection.h"

#include <gtest/gtest.h>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/partition/graph_testing.h"
#include "poise/partition/traffic_descent.h"

namespace poise {
namespace {

using graphs::Graph;
using graphs::Part;
using graphs::Vertex;

/// Cuts the graph along the machine's tree. Distances are computed from the machine's message
/// factors.
std::vector<PlaceId> cut_along(const Machine& machine, const Graph& graph,
                               const Sections& sections) {
  const Workload none;
  const Placement nowhere;
  return multisection(Distances({machine, none, nowhere, machine.costs()}), machine, graph,
                      sections);
}

/// The weights of all places.
std::vector<double> weights_of(const Machine& machine, const Graph& graph,
                               const std::vector<PlaceId>& place_of) {
  std::vector<double> weights(machine.num_places(), 0);
  for (Vertex v = 0; v < graph.num_vertices(); ++v) weights[place_of[v]] += graph.weight[v];
  return weights;
}

constexpr const char* kMachines[] = {"core:7", "node:3 core:4 factors:10,1",
                                     "node:2 numa:3 core:2 factors:10,3,1", "torus:3x2 core:2",
                                     "node:5 core:1"};

TEST(Multisection, gives_each_place_whole_cliques_in_proportion_to_its_share) {
  constexpr Vertex kSize = 6;
  for (const char* text : kMachines)
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      const Machine machine = machine_from_text(text);
      std::vector<double> cliques_of;  // number of cliques per place; with seed 0, all are 1
      Vertex count = 0;
      for (PlaceId p = 0; p < machine.num_places(); ++p) {
        cliques_of.push_back(seed == 0 ? 1.0 : 1.0 * random.below(3));
        count += static_cast<Vertex>(cliques_of[p]);
      }
      if (count == 0) continue;
      std::vector<Vertex> clique_of;
      const Graph graph = graphs::cliques(count, kSize, random, clique_of);
      std::vector<double> shares = cliques_of;
      for (double& share : shares) share *= kSize;
      for (const unsigned climbs : {0u, 2u}) {
        const std::vector<PlaceId> place_of =
            cut_along(machine, graph, {.shares = shares, .tolerance = 0.02, .climbs = climbs});
        EXPECT_EQ(weights_of(machine, graph, place_of), shares);
        std::vector<PlaceId> of_clique(count, ~0u);
        for (Vertex v = 0; v < graph.num_vertices(); ++v) {
          PlaceId& place = of_clique[clique_of[v]];
          if (place == ~0u) place = place_of[v];
          EXPECT_EQ(place_of[v], place) << "clique " << clique_of[v];
        }
      }
    }
}

TEST(Multisection, fixed_vertices_stay_on_their_places_and_places_keep_to_their_shares) {
  for (const char* text : kMachines)
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      const Machine machine = machine_from_text(text);
      const Vertex size = 40 * machine.num_places();
      Workload workload;
      workload.tasks.assign(size, {.load_s = 1});
      for (Vertex v = 0; v < 3 * size; ++v)
        workload.messages.push_back({static_cast<TaskId>(random.below(size)),
                                     static_cast<TaskId>(random.below(size)), 1,
                                     1 + random.below(50)});
      const Graph graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
      Sections sections{.shares = {}, .tolerance = 0.05};
      std::vector<double> shares;
      double sum = 0;
      for (PlaceId p = 0; p < machine.num_places(); ++p) {
        shares.push_back(1 + random.below(3));
        sum += shares[p];
      }
      for (double& share : shares) share *= size / sum;
      sections.shares = shares;
      for (Vertex v = 0; v < size; ++v)
        sections.fixed.push_back(random.below(10) == 0 ? random.below(machine.num_places())
                                                       : graphs::kFree);
      const std::vector<PlaceId> place_of = cut_along(machine, graph, sections);
      for (Vertex v = 0; v < size; ++v)
        if (sections.fixed[v] != graphs::kFree) {
          EXPECT_EQ(place_of[v], sections.fixed[v]) << v;
        }
      const std::vector<double> weights = weights_of(machine, graph, place_of);
      for (PlaceId p = 0; p < machine.num_places(); ++p)
        EXPECT_LE(weights[p], 1.05 * shares[p] + 1) << p;
      sections.threads = 3;
      EXPECT_EQ(cut_along(machine, graph, sections), place_of);
    }
}

TEST(Multisection,
     puts_each_clique_on_one_place_and_cliques_with_heavy_edges_between_them_on_one_node) {
  // Four groups of four cliques. Edges between the cliques of a group are heavier than edges
  // between groups.
  const Machine machine = machine_from_text("node:4 core:4 factors:10,1");
  constexpr Vertex kSize = 5;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Vertex> name(16 * kSize);
    for (Vertex v = 0; v < name.size(); ++v) name[v] = v;
    for (std::size_t i = name.size(); i > 1; --i) std::swap(name[i - 1], name[random.below(i)]);
    Workload workload;
    workload.tasks.assign(name.size(), {.load_s = 1});
    for (Vertex a = 0; a < name.size(); ++a)
      for (Vertex b = 0; b < a; ++b)
        workload.messages.push_back({name[a], name[b], 1,
                                     a / kSize == b / kSize               ? 1000u
                                     : a / (4 * kSize) == b / (4 * kSize) ? 20u
                                                                          : 1u});
    const Graph graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
    const std::vector<double> shares(16, kSize);
    const std::vector<PlaceId> place_of =
        cut_along(machine, graph, {.shares = shares, .tolerance = 0});
    for (Vertex a = 0; a < name.size(); ++a) {
      const Vertex same_clique = a / kSize * kSize, same_group = a / (4 * kSize) * 4 * kSize;
      EXPECT_EQ(place_of[name[a]], place_of[name[same_clique]]) << a;
      EXPECT_EQ(place_of[name[a]] / 4, place_of[name[same_group]] / 4) << a;
    }
  }
}

TEST(Multisection,
     the_v_cycle_improves_a_level_only_if_the_level_has_three_or_more_groups_of_several_places) {
  const auto traffics = [](const char* text) {
    std::vector<double> sums;
    for (const unsigned climbs : {0u, 1u}) {
      sums.push_back(0);
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        Random random(seed);
        const Machine machine = machine_from_text(text);
        const Graph graph = graphs::drawn_graph(60, random);
        const std::vector<double> shares(machine.num_places(), 60.0 / machine.num_places());
        const Placement placement(
            cut_along(machine, graph, {.shares = shares, .tolerance = 0.2, .climbs = climbs}));
        const Workload none;
        const Placement nowhere;
        sums.back() +=
            traffic(Distances({machine, none, nowhere, machine.costs()}), graph, placement);
      }
    }
    return sums;
  };
  for (const char* text : {"node:2 numa:2 core:2 factors:10,3,1", "core:6", "node:2 core:5"}) {
    const std::vector<double> sums = traffics(text);
    EXPECT_EQ(sums[1], sums[0]) << text;
  }
  for (const char* text : {"node:3 core:2 factors:10,1", "node:5 core:2 factors:10,1"}) {
    const std::vector<double> sums = traffics(text);
    EXPECT_LT(sums[1], sums[0]) << text;
  }
}

}  // namespace
}  // namespace poise
