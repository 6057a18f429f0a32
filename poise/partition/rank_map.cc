// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/rank_map.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/partition/exhaustive_map.h"
#include "poise/partition/rank_sections.h"
#include "poise/partition/tuning.h"

namespace poise {

namespace {

using graphs::Graph;
using graphs::Vertex;

/// Sums of traffic whose relative difference is below this value differ only by rounding.
constexpr double kRounding = 1e-9;

/// Owns the arrays to which a RankProblem (the input of the search for a map) refers.
struct Parts {
  std::vector<PlaceId> slots;
  Graph graph;
  RankDistances distances;

  Parts(const Machine& machine, const Workload& workload, const Placement* start,
        const RankMapOptions& options)
      : slots(rank_slots(machine, workload.num_tasks(), options.shape, start)),
        graph(graphs::affinity_graph(workload, graphs::Affinity::bytes)),
        distances(machine, options.distance) {
    graph.weight.assign(workload.num_tasks(), 1);
    graphs::pad(graph, slots.size(), 1);
  }
};

bool within(const MapCost& cost, const MapCost& limit) {
  return cost.internode_bytes <= limit.internode_bytes &&
         cost.busiest_node_bytes <= limit.busiest_node_bytes &&
         cost.busiest_card_bytes <= limit.busiest_card_bytes;
}

/// Returns how many bytes each rank sends to other ranks.
std::vector<double> bytes_sent(const Workload& workload) {
  const MessageSize size(workload);
  std::vector<double> sent(workload.num_tasks(), 0);
  for (const Message& message : workload.messages)
    if (message.from != message.to) sent[message.from] += size(message);
  return sent;
}

/// Returns the slot of each rank under a placement, followed by the free slots in order. Returns
/// nothing if two ranks have the same slot or a rank's place has no slot.
std::optional<std::vector<Slot>> slots_under(std::span<const PlaceId> slots,
                                             const Placement& placement) {
  std::vector<Slot> slot_of;
  std::vector<std::uint8_t> is_taken(slots.size(), 0);
  for (const PlaceId place : placement.places()) {
    Slot slot = std::ranges::lower_bound(slots, place) - slots.begin();
    while (slot < slots.size() && slots[slot] == place && is_taken[slot]) ++slot;
    if (slot == slots.size() || slots[slot] != place) return std::nullopt;
    is_taken[slot] = 1;
    slot_of.push_back(slot);
  }
  for (Slot slot = 0; slot < slots.size(); ++slot)
    if (!is_taken[slot]) slot_of.push_back(slot);
  return slot_of;
}

/// A map of all vertices, and its traffic.
struct Map {
  std::vector<Slot> slot_of;
  double traffic;
};

/// Computes several maps by recursive cuts (rank_sections.h) and returns at most `most` of them,
/// those with the least traffic, in ascending order of traffic. The result of a cut depends on how
/// ranks are numbered: the numbers decide between equally heavy edges, and select the ranks from
/// which a half is grown. Therefore the ranks are renumbered at random before each cut except the
/// first.
std::vector<Map> best_cuts(const RankProblem& problem, std::uint64_t seed, std::size_t most) {
  const Vertex size = problem.graph.num_vertices();
  const double levels = std::bit_width(size);
  const double work = (kPartitionTuning.vertex_of_cut * size + problem.graph.to.size()) * levels;
  const double cuts =
      std::min<double>(kPartitionTuning.cuts_of_ranks, kPartitionTuning.work_of_cuts / work);
  std::vector<Vertex> number(size);
  std::iota(number.begin(), number.end(), 0);
  Random random(seed);
  std::vector<Map> best;
  for (int cut = 0; cut == 0 || cut < cuts; ++cut) {
    for (Vertex v = cut == 0 ? 0 : size; v > 1; --v)
      std::swap(number[v - 1], number[random.below(v)]);
    const Graph graph = graphs::contract(problem.graph, number, size);
    const RankProblem renumbered{graph, problem.machine, problem.distances, problem.slots};
    const std::vector<Slot> other = cut_into_slots(renumbered, kPartitionTuning.bisection_attempts);
    Map map{std::vector<Slot>(size), traffic(renumbered, other)};
    for (Vertex v = 0; v < size; ++v) map.slot_of[v] = other[number[v]];
    best.insert(std::ranges::upper_bound(best, map.traffic, {}, &Map::traffic), std::move(map));
    if (best.size() > most) best.pop_back();
  }
  return best;
}

/// Returns the first place of each node that has slots, or nothing if nodes have different numbers
/// of slots.
std::vector<PlaceId> first_places(const RankProblem& problem) {
  std::vector<Slot> first;
  for (Slot slot = 0; slot < problem.slots.size(); ++slot)
    if (slot == 0 || problem.distances.node_of(problem.slots[slot]) !=
                         problem.distances.node_of(problem.slots[slot - 1]))
      first.push_back(slot);
  const Slot size = problem.slots.size() / first.size();
  if (problem.slots.size() != size * first.size()) return {};
  std::vector<PlaceId> places;
  for (Slot node = 0; node < first.size(); ++node) {
    if (first[node] != node * size) return {};
    places.push_back(problem.slots[first[node]]);
  }
  return places;
}

std::vector<Slot> best_map(const RankProblem& problem, const SwapEffort& effort);

/// Divides the ranks into groups, one for each node, then maps the groups to the nodes of a torus,
/// mesh or dragonfly. This sends fewer bytes between nodes than a cut along the network, but over
/// more hops. Returns nothing for other networks, or if nodes have different numbers of slots.
std::optional<std::vector<Slot>> map_by_nodes(const RankProblem& problem,
                                              const SwapEffort& effort) {
  if (problem.machine.network().shape == Network::Shape::tree) return std::nullopt;
  const std::vector<PlaceId> nodes = first_places(problem);
  if (nodes.size() < 2 || nodes.size() == problem.slots.size()) return std::nullopt;
  const Slot size = problem.slots.size() / nodes.size();
  std::vector<Slot> slot_of = cut_into_nodes(problem, kPartitionTuning.bisection_attempts);
  std::vector<Vertex> group_of(slot_of.size());
  for (Vertex v = 0; v < group_of.size(); ++v) group_of[v] = slot_of[v] / size;
  const Graph groups = graphs::contract(problem.graph, group_of, nodes.size());
  const std::vector<Slot> node_of =
      best_map({groups, problem.machine, problem.distances, nodes}, effort);
  for (Vertex v = 0; v < group_of.size(); ++v)
    slot_of[v] = node_of[group_of[v]] * size + slot_of[v] % size;
  return slot_of;
}

/// Improves several maps by swaps: those of best_cuts() (only one if the graph is large) and, if it
/// exists, the map by nodes. Returns the map that then has the least traffic.
std::vector<Slot> best_map(const RankProblem& problem, const SwapEffort& effort) {
  const double scans = effort.scans_per_edge * (problem.graph.to.size() / 2 + 1);
  const double starts =
      std::clamp<double>(effort.max_scans / scans, 1, kPartitionTuning.max_starts);
  std::vector<Map> maps = best_cuts(problem, effort.seed, starts);
  SwapEffort half = effort;
  half.max_scans /= 2;
  std::optional<std::vector<Slot>> by_nodes = map_by_nodes(problem, half);
  if (by_nodes) maps.push_back({*std::move(by_nodes), 0});
  for (Map& map : maps) {
    search_by_swaps(problem, {}, by_nodes ? half : effort, map.slot_of);
    map.traffic = traffic(problem, map.slot_of);
  }
  return std::move(std::ranges::min_element(maps, {}, &Map::traffic)->slot_of);
}

class RankMapping {
 public:
  RankMapping(const Machine& machine, const Workload& workload, const Placement* start,
              const RankMapOptions& options)
      : machine_(machine),
        workload_(workload),
        options_(options),
        parts_(machine, workload, start, options),
        problem_{parts_.graph, machine, parts_.distances, parts_.slots} {}

  std::span<const PlaceId> slots() const { return parts_.slots; }

  /// Tries all maps. The first is `start`, or one that best_map() finds if `start` is null.
  TriedMap best_of_all(const Placement* current, const Placement* start) const {
    std::vector<Slot> best =
        start != nullptr ? *slots_under(parts_.slots, *start) : best_map(problem_, options_.effort);
    const bool is_complete =
        try_all_maps(problem_, workload_.num_tasks(), kPartitionTuning.max_visits, best);
    // The search uses the mean distance of both directions. If the directions differ, the map found
    // may have more traffic than the initial map or block order.
    TriedMap result{placed(best), is_complete, num_nodes()};
    for (const Placement& other : {start != nullptr ? *start : base_of(current), block_order()})
      if (cost_of(other).traffic < cost_of(result.placement).traffic * (1 - kRounding))
        result.placement = other;
    return result;
  }

  /// Maps the ranks as map_ranks() describes it for ranks that are too many to try all maps.
  Placement map(const Placement* current) const {
    std::vector<Slot> best = best_map(problem_, options_.effort);
    const Placement base = base_of(current), block = block_order();
    const MapCost limit = cost_of(base);
    Placement result = base;
    const auto take_if_better = [&](const Placement& other) {
      const MapCost cost = cost_of(other);
      const bool is_better =
          within(cost, limit) && cost.traffic < cost_of(result).traffic * (1 - kRounding);
      if (is_better) result = other;
      return is_better;
    };
    take_if_better(block);
    if (take_if_better(placed(best)) || within(cost_of(placed(best)), limit)) return result;
    const std::vector<double> sent = bytes_sent(workload_);
    const TrafficLimits limits{1.0 * limit.busiest_node_bytes, 1.0 * limit.internode_bytes,
                               1.0 * limit.busiest_card_bytes, sent};
    search_by_swaps(problem_, limits, options_.effort, best);
    if (take_if_better(placed(best))) return result;
    std::vector<Slot> from_base = slots_under(parts_.slots, base).value_or(best);
    search_by_swaps(problem_, limits, options_.effort, from_base);
    take_if_better(placed(from_base));
    return result;
  }

  /// See one_per_slot().
  Placement made_single(const Placement& placement) const {
    if (slots_under(parts_.slots, placement)) return placement;
    std::vector<Vertex> order(workload_.num_tasks());
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> bytes(order.size(), 0);
    for (Vertex v = 0; v < order.size(); ++v)
      for (std::size_t e = parts_.graph.first[v]; e < parts_.graph.first[v + 1]; ++e)
        bytes[v] += parts_.graph.affinity[e];
    std::ranges::stable_sort(order, [&](Vertex a, Vertex b) { return bytes[a] > bytes[b]; });
    std::vector<std::uint8_t> is_taken(parts_.slots.size(), 0);
    std::vector<Vertex> waiting;
    Placement single(workload_.num_tasks());
    const auto take = [&](Vertex v, Slot slot) {
      is_taken[slot] = 1;
      single.move(v, parts_.slots[slot]);
    };
    for (const Vertex v : order) {
      Slot slot = slot_around(placement.of(v));
      const PlaceId place = parts_.slots[slot];
      while (slot > 0 && is_taken[slot] && parts_.slots[slot - 1] == place) --slot;
      if (is_taken[slot])
        waiting.push_back(v);
      else
        take(v, slot);
    }
    for (const Vertex v : waiting) take(v, nearest_free(placement.of(v), is_taken));
    return single;
  }

  /// Number of nodes with slots.
  NodeId num_nodes() const {
    NodeId count = 0;
    for (Slot slot = 0; slot < parts_.slots.size(); ++slot)
      if (slot == 0 || machine_.node_of_place(parts_.slots[slot]) !=
                           machine_.node_of_place(parts_.slots[slot - 1]))
        ++count;
    return count;
  }

 private:
  /// Returns the last slot whose first core is this place or an earlier one.
  Slot slot_around(PlaceId place) const {
    const auto after = std::ranges::upper_bound(parts_.slots, place);
    return std::max<std::ptrdiff_t>(1, after - parts_.slots.begin()) - 1;
  }

  Slot nearest_free(PlaceId place, std::span<const std::uint8_t> is_taken) const {
    std::optional<Slot> nearest;
    double least = 0;
    for (Slot slot = 0; slot < is_taken.size(); ++slot) {
      if (is_taken[slot]) continue;
      const double distance = parts_.distances(parts_.slots[slot], place);
      if (!nearest || distance < least) nearest = slot, least = distance;
    }
    return *nearest;
  }

  Placement placed(std::span<const Slot> slot_of) const {
    Placement placement(workload_.num_tasks());
    for (TaskId t = 0; t < placement.num_tasks(); ++t) placement.move(t, parts_.slots[slot_of[t]]);
    return placement;
  }

  Placement base_of(const Placement* current) const {
    if (current != nullptr && slots_under(parts_.slots, *current)) return *current;
    return block_order();
  }

  Placement block_order() const { return in_block_order(machine_, workload_, options_.shape); }

  MapCost cost_of(const Placement& placement) const {
    return map_cost(machine_, workload_, placement, options_.distance);
  }

  const Machine& machine_;
  const Workload& workload_;
  const RankMapOptions& options_;
  const Parts parts_;
  const RankProblem problem_;
};

}  // namespace

Placement in_block_order(const Machine& machine, const Workload& workload, const RankShape& shape) {
  std::vector<PlaceId> slots = rank_slots(machine, workload.num_tasks(), shape);
  slots.resize(workload.num_tasks());
  return Placement(std::move(slots));
}

bool is_one_per_slot(const Machine& machine, const Placement& placement, const RankShape& shape) {
  return slots_under(rank_slots(machine, placement.num_tasks(), shape, &placement), placement)
      .has_value();
}

TriedMap try_maps(const Machine& machine, const Workload& workload, const Placement* current,
                  const RankMapOptions& options) {
  const RankMapping mapping(machine, workload, current, options);
  if (workload.num_tasks() > kPartitionTuning.max_ranks_to_try_all)
    return {mapping.map(current), false, mapping.num_nodes()};
  TriedMap result = mapping.best_of_all(current, nullptr);
  if (options.shape.fills_nodes || result.nodes == machine.num_nodes()) return result;
  Placement everywhere(machine.num_nodes());  // a map that uses every node
  for (NodeId node = 0; node < machine.num_nodes(); ++node)
    everywhere.move(node, machine.first_place(machine.first_domain(node)));
  const std::vector<PlaceId> slots =
      rank_slots(machine, workload.num_tasks(), options.shape, &everywhere);
  if (slots.size() > kPartitionTuning.max_slots_to_try_all) return result;
  return RankMapping(machine, workload, &everywhere, options)
      .best_of_all(current, &result.placement);
}

Placement map_ranks(const Machine& machine, const Workload& workload, const Placement* current,
                    const RankMapOptions& options) {
  return try_maps(machine, workload, current, options).placement;
}

Placement one_per_slot(const Machine& machine, const Workload& workload, const Placement& placement,
                       const RankMapOptions& options) {
  return RankMapping(machine, workload, &placement, options).made_single(placement);
}

}  // namespace poise
