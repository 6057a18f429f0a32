// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/tree.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "poise/base/check.h"
#include "poise/strategies/treematch/grouping.h"
#include "poise/strategies/treematch/listing.h"
#include "poise/strategies/tuning.h"

namespace poise::tree_match {

namespace {

/// A level of the tree: groups of `arity` vertices have a common parent, which is `depth` edges
/// below the root. The path between two leaves is 2 * depth hops shorter through such a parent than
/// through the root.
struct Level {
  std::uint32_t arity;
  double depth;
};

/// Returns the levels from the leaves up. Levels with one child per parent are left out.
std::vector<Level> levels_from_below(std::span<const std::uint32_t> arities) {
  std::vector<Level> levels;
  for (std::size_t i = arities.size(); i-- > 0;)
    if (arities[i] > 1) levels.emplace_back(arities[i], i);
  return levels;
}

std::vector<Vertex> numbers(std::size_t size) {
  std::vector<Vertex> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

double count_arrangements(Vertex leaves, std::span<const Level> levels) {
  double count = 1;
  for (const Level& level : levels) {
    count *= count_groupings(leaves, level.arity);
    leaves /= level.arity;
  }
  return count;
}

/// How vertices are grouped into a tree: for each level, from the leaves up, the group of each
/// element. The elements of the lowest level are the vertices; those of any other level are the
/// groups of the level below.
using Grouping = std::vector<std::vector<Vertex>>;

/// Numbers the leaves in depth-first order, so that the leaves of each group are consecutive.
std::vector<Vertex> leaves_of(const Grouping& grouping, Vertex num_leaves) {
  std::vector<Vertex> first_leaf{0};  // per group of the level above: its first leaf
  Vertex per_group = num_leaves;
  for (auto level = grouping.rbegin(); level != grouping.rend(); ++level) {
    const Vertex num_groups = first_leaf.size();
    const Groups groups = arrange(*level, num_groups);
    per_group = per_group * num_groups / static_cast<Vertex>(level->size());
    std::vector<Vertex> first(level->size());
    for (std::size_t v = 0; v < level->size(); ++v)
      first[v] = first_leaf[(*level)[v]] + per_group * groups.position[v];
    first_leaf = std::move(first);
  }
  return first_leaf;
}

/// Finds the best grouping of a small tree by trying all of them.
class AllArrangements {
 public:
  explicit AllArrangements(std::span<const Level> levels)
      : levels_(levels), current_(levels.size()) {}

  Grouping best(const Graph& graph) {
    search(Matrix(graph), 0, 0);
    return std::move(best_);
  }

 private:
  void search(const Matrix& affinity, std::size_t level, double value) {
    if (level == levels_.size()) {
      if (value <= best_value_) return;
      best_value_ = value;
      best_ = current_;
      return;
    }
    for_each_grouping(affinity, levels_[level].arity,
                      [&](std::span<const Vertex> group_of, double inside) {
                        current_[level].assign(group_of.begin(), group_of.end());
                        const double gained = value + inside * levels_[level].depth;
                        search(merged(affinity, group_of, level), level + 1, gained);
                      });
  }

  /// Merges the vertices of each group into one. Affinities inside groups are dropped, because they
  /// have been counted already.
  Matrix merged(const Matrix& affinity, std::span<const Vertex> group_of, std::size_t level) const {
    Matrix groups(affinity.size() / levels_[level].arity);
    for (Vertex a = 0; a < affinity.size(); ++a)
      for (Vertex b = 0; b < affinity.size(); ++b)
        if (group_of[a] != group_of[b]) groups(group_of[a], group_of[b]) += affinity(a, b);
    return groups;
  }

  std::span<const Level> levels_;
  Grouping current_, best_;
  double best_value_ = -1;
};

}  // namespace

std::vector<std::uint32_t> split_to_primes(std::span<const std::uint32_t> arities) {
  std::vector<std::uint32_t> primes;
  for (std::uint32_t arity : arities) {
    const std::ptrdiff_t first = primes.size();
    for (std::uint32_t factor = 2; factor * factor <= arity; ++factor)
      for (; arity % factor == 0; arity /= factor) primes.push_back(factor);
    if (arity > 1) primes.push_back(arity);
    std::reverse(primes.begin() + first, primes.end());
  }
  return primes;
}

std::vector<Vertex> match_to_tree(Graph graph, std::span<const std::uint32_t> arities) {
  const Vertex real = graph.num_vertices();
  const Vertex leaves =
      std::accumulate(arities.begin(), arities.end(), Vertex{1}, std::multiplies<>());
  POISE_CHECK(real <= leaves);
  const std::vector<Level> levels = levels_from_below(arities);
  if (levels.size() <= 1) return numbers(real);
  pad(graph, leaves, 0);
  Grouping grouping;
  if (count_arrangements(leaves, levels) <= kStrategiesTuning.max_listed) {
    grouping = AllArrangements(levels).best(graph);
  } else {
    // The root's arity is not divided into primes: its children are all equally far from each
    // other, so grouping them in several steps would change nothing.
    const auto root = std::find_if(arities.begin(), arities.end(), [](auto a) { return a > 1; });
    const auto below_root = split_to_primes({root + 1, arities.end()});
    for (auto arity = below_root.rbegin(); arity != below_root.rend(); ++arity) {
      grouping.push_back(group_by_affinity(graph, *arity));
      graph = contract(graph, grouping.back(), graph.num_vertices() / *arity);
    }
    grouping.emplace_back(graph.num_vertices(), 0);
  }
  std::vector<Vertex> leaf_of = leaves_of(grouping, leaves);
  leaf_of.resize(real);
  return leaf_of;
}

namespace {

/// Permutes the children of each inner vertex of the tree, from the root down.
class Turning {
 public:
  Turning(std::span<const Vertex> leaf_of, std::span<const std::uint32_t> arities,
          std::span<const std::vector<Anchor>> anchors)
      : arities_(arities), anchors_(anchors), leaf_of_(leaf_of.begin(), leaf_of.end()) {}

  std::vector<Vertex> turned() {
    Vertex leaves = 1;
    for (const std::uint32_t arity : arities_) leaves *= arity;
    turn(0, 0, leaves, numbers(leaf_of_.size()));
    return std::move(leaf_of_);
  }

 private:
  struct Wish {
    Vertex child, position;
    double weight;
  };

  /// Permutes the children of an inner vertex and of all inner vertices below it. `vertices` are
  /// those mapped to the leaves below the inner vertex; the number of its first leaf is `first`.
  void turn(std::size_t level, Vertex first, Vertex leaves, std::span<const Vertex> vertices) {
    if (level == arities_.size() || vertices.empty()) return;
    const Vertex arity = arities_[level], per_child = leaves / arity;
    std::vector<Vertex> child_of;
    for (const Vertex v : vertices) child_of.push_back((leaf_of_[v] - first) / per_child);
    const std::vector<Vertex> position_of =
        positions(arity, wishes(vertices, child_of, first, per_child, arity));
    const Groups children = arrange(child_of, arity);
    for (Vertex child = 0; child < arity; ++child) {
      std::vector<Vertex> below;
      for (const Vertex i : children.of(child)) {
        below.push_back(vertices[i]);
        leaf_of_[vertices[i]] += (position_of[child] - child) * per_child;
      }
      turn(level + 1, first + position_of[child] * per_child, per_child, below);
    }
  }

  std::vector<Wish> wishes(std::span<const Vertex> vertices, std::span<const Vertex> child_of,
                           Vertex first, Vertex per_child, Vertex arity) const {
    std::vector<Wish> all;
    for (std::size_t i = 0; i < vertices.size(); ++i)
      for (const Anchor& anchor : anchors_[vertices[i]])
        if (anchor.leaf >= first && (anchor.leaf - first) / per_child < arity)
          all.push_back({child_of[i], (anchor.leaf - first) / per_child, anchor.weight});
    std::stable_sort(all.begin(), all.end(), [](const Wish& a, const Wish& b) {
      return std::tie(a.child, a.position) < std::tie(b.child, b.position);
    });
    std::vector<Wish> merged;
    for (const Wish& wish : all)
      if (!merged.empty() && merged.back().child == wish.child &&
          merged.back().position == wish.position)
        merged.back().weight += wish.weight;
      else
        merged.push_back(wish);
    std::stable_sort(merged.begin(), merged.end(),
                     [](const Wish& a, const Wish& b) { return a.weight > b.weight; });
    return merged;
  }

  /// Assigns each child a position. The strongest preferences are served first: a child gets the
  /// position that it prefers if that is still free. Children without a position get the remaining
  /// ones in order.
  static std::vector<Vertex> positions(Vertex arity, std::span<const Wish> wishes) {
    std::vector<Vertex> position_of(arity, arity);
    std::vector<std::uint8_t> is_taken(arity, 0);
    for (const Wish& wish : wishes) {
      if (position_of[wish.child] != arity || is_taken[wish.position]) continue;
      position_of[wish.child] = wish.position;
      is_taken[wish.position] = 1;
    }
    Vertex next = 0;
    for (Vertex& position : position_of) {
      if (position != arity) continue;
      while (is_taken[next]) ++next;
      position = next++;
    }
    return position_of;
  }

  std::span<const std::uint32_t> arities_;
  std::span<const std::vector<Anchor>> anchors_;
  std::vector<Vertex> leaf_of_;
};

}  // namespace

std::vector<Vertex> turn_to_anchors(std::span<const Vertex> leaf_of,
                                    std::span<const std::uint32_t> arities,
                                    std::span<const std::vector<Anchor>> anchors) {
  return Turning(leaf_of, arities, anchors).turned();
}

}  // namespace poise::tree_match
