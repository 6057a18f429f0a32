// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/renaming.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace poise {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr double kEqual = 0.01;

/// A unit is a node, a group of places or a place. A part is the set of tasks that the new
/// placement puts on one unit. Renaming moves each part as a whole to a unit of the same kind, if
/// possible to one that should get the same share of the load as the unit on which the new
/// placement puts the part.
struct Unit {
  // A part moves only to a unit of the same kind. The kind of a node is its number of places; the
  // kind of a place is its node.
  std::uint32_t kind;
  double share;
};

/// Total load in seconds of those tasks of a part that are on a unit in the current placement.
struct Overlap {
  std::uint32_t part, unit;
  double load_s;
};

/// Merges entries for the same part and unit, adding up their loads. Sorts by load, largest first.
std::vector<Overlap> merged(std::vector<Overlap> overlaps) {
  std::stable_sort(overlaps.begin(), overlaps.end(), [](const Overlap& a, const Overlap& b) {
    return std::tie(a.part, a.unit) < std::tie(b.part, b.unit);
  });
  std::size_t kept = 0;
  for (const Overlap& overlap : overlaps) {
    const bool is_same = kept > 0 && overlaps[kept - 1].part == overlap.part &&
                         overlaps[kept - 1].unit == overlap.unit;
    if (is_same)
      overlaps[kept - 1].load_s += overlap.load_s;
    else
      overlaps[kept++] = overlap;
  }
  overlaps.resize(kept);
  std::stable_sort(overlaps.begin(), overlaps.end(),
                   [](const Overlap& a, const Overlap& b) { return a.load_s > b.load_s; });
  return overlaps;
}

class Matching {
 public:
  explicit Matching(const std::vector<Unit>& units)
      : units_(units), unit_of_part_(units.size(), kNone), is_taken_(units.size(), false) {}

  void join_equals(const std::vector<Overlap>& overlaps) {
    for (const Overlap& overlap : overlaps)
      if (are_equal(units_[overlap.part], units_[overlap.unit])) join(overlap.part, overlap.unit);
  }

  /// Assigns the remaining parts to the remaining units (such as nodes). First, each part gets the
  /// unit with the part's number, if that unit is free. Then the parts without a unit and the free
  /// units are sorted by kind and share, and the i-th part gets the i-th unit.
  std::vector<std::uint32_t> completed() && {
    for (std::uint32_t u = 0; u < units_.size(); ++u) join(u, u);
    std::vector<std::uint32_t> parts, free;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      if (unit_of_part_[u] == kNone) parts.push_back(u);
      if (!is_taken_[u]) free.push_back(u);
    }
    const auto by_kind_and_share = [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(units_[a].kind, -units_[a].share) <
             std::tuple(units_[b].kind, -units_[b].share);
    };
    std::stable_sort(parts.begin(), parts.end(), by_kind_and_share);
    std::stable_sort(free.begin(), free.end(), by_kind_and_share);
    for (std::size_t i = 0; i < parts.size(); ++i) join(parts[i], free[i]);
    return std::move(unit_of_part_);
  }

 private:
  static bool are_equal(const Unit& a, const Unit& b) {
    return a.kind == b.kind && std::abs(a.share - b.share) <= kEqual * std::max(a.share, b.share);
  }

  void join(std::uint32_t part, std::uint32_t unit) {
    if (unit_of_part_[part] != kNone || is_taken_[unit]) return;
    unit_of_part_[part] = unit;
    is_taken_[unit] = true;
  }

  const std::vector<Unit>& units_;
  std::vector<std::uint32_t> unit_of_part_;
  std::vector<bool> is_taken_;
};

/// Returns the new unit of each part (the tasks that `placement` puts on one unit). unit_of(p) must
/// return the unit, such as the node, that contains place p.
template <typename UnitOf>
std::vector<std::uint32_t> renaming(const std::vector<Unit>& units, const UnitOf& unit_of,
                                    const Workload& workload, const Placement& current,
                                    const Placement& placement) {
  std::vector<Overlap> overlaps;
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (workload.tasks[t].movable)
      overlaps.push_back(
          {unit_of(placement.of(t)), unit_of(current.of(t)), workload.tasks[t].load_s});
  Matching matching(units);
  matching.join_equals(merged(std::move(overlaps)));
  return std::move(matching).completed();
}

PlaceId first_place_of(const Machine& machine, NodeId node) {
  return machine.first_place(machine.first_domain(node));
}

/// Returns the new name of each place if whole nodes are renamed. Only nodes of equal size exchange
/// names.
std::vector<PlaceId> renamed_by_node(const Machine& machine, const Workload& workload,
                                     const Placement& current, const Placement& placement,
                                     std::span<const double> shares) {
  std::vector<Unit> nodes;
  for (NodeId n = 0; n < machine.num_nodes(); ++n) {
    const PlaceId first = first_place_of(machine, n), last = first_place_of(machine, n + 1);
    const auto of_node = shares.subspan(first, last - first);
    nodes.push_back({last - first, std::accumulate(of_node.begin(), of_node.end(), 0.0)});
  }
  const auto node_of = [&](PlaceId p) { return machine.node_of_place(p); };
  const std::vector<NodeId> nodes_renamed = renaming(nodes, node_of, workload, current, placement);
  std::vector<PlaceId> renamed;
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    renamed.push_back(first_place_of(machine, nodes_renamed[node_of(p)]) + p -
                      first_place_of(machine, node_of(p)));
  return renamed;
}

std::vector<PlaceId> renamed_inside_nodes(const Machine& machine, const Workload& workload,
                                          const Placement& current, const Placement& placement,
                                          std::span<const double> shares) {
  std::vector<Unit> places;
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    places.push_back({machine.node_of_place(p), shares[p]});
  return renaming(
      places, [](PlaceId p) { return p; }, workload, current, placement);
}

void rename(const Workload& workload, const std::vector<PlaceId>& renamed, Placement& placement) {
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (workload.tasks[t].movable) placement.move(t, renamed[placement.of(t)]);
}

}  // namespace

Placement renamed_to_stay(const Machine& machine, const Workload& workload,
                          const Placement& current, const Placement& placement,
                          std::span<const double> shares) {
  Placement renamed = placement;
  rename(workload, renamed_by_node(machine, workload, current, renamed, shares), renamed);
  rename(workload, renamed_inside_nodes(machine, workload, current, renamed, shares), renamed);
  return renamed;
}

Placement renamed_in_level(const Machine& machine, const Workload& workload,
                           const Placement& current, const Placement& placement,
                           std::span<const double> shares, std::size_t level) {
  const std::vector<PlaceId>& first_place = machine.levels()[level].first_place;
  // Groups with the same parent and of the same size are of one kind. `kinds` gives the number of
  // the kind for a parent and a size.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> kinds;
  std::vector<Unit> groups;
  for (std::uint32_t g = 0; g + 1 < first_place.size(); ++g) {
    const PlaceId first = first_place[g], size = first_place[g + 1] - first;
    const std::uint32_t parent = level == 0 ? 0 : machine.group_of(level - 1, first);
    const auto kind = kinds.try_emplace({parent, size}, kinds.size()).first->second;
    const auto of_group = shares.subspan(first, size);
    groups.push_back({kind, std::accumulate(of_group.begin(), of_group.end(), 0.0)});
  }
  const auto group_of = [&](PlaceId p) { return machine.group_of(level, p); };
  const std::vector<std::uint32_t> new_group =
      renaming(groups, group_of, workload, current, placement);
  std::vector<PlaceId> new_place;
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    new_place.push_back(first_place[new_group[group_of(p)]] + p - first_place[group_of(p)]);
  Placement renamed = placement;
  rename(workload, new_place, renamed);
  return renamed;
}

}  // namespace poise
