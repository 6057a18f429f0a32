// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/grouping.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "poise/base/check.h"
#include "poise/partition/partition.h"
#include "poise/strategies/treematch/listing.h"
#include "poise/strategies/tuning.h"

namespace poise::tree_match {

namespace {

constexpr Vertex kNone = std::numeric_limits<Vertex>::max();

std::vector<Vertex> best_of_all(const Graph& graph, std::uint32_t arity) {
  std::vector<Vertex> best;
  double best_value = -1;
  for_each_grouping(Matrix(graph), arity, [&](std::span<const Vertex> group_of, double value) {
    if (value <= best_value) return;
    best_value = value;
    best.assign(group_of.begin(), group_of.end());
  });
  return best;
}

/// Lists all groups of `arity` elements and takes them in descending order of affinity, but skips
/// groups that share an element with a group taken before. Returns the group of each element.
std::vector<Vertex> best_disjoint(const Graph& graph, std::uint32_t arity) {
  std::vector<Vertex> members;  // members of all listed groups, group after group
  std::vector<double> values;
  for_each_subset(Matrix(graph), arity, [&](std::span<const Vertex> group, double value) {
    members.insert(members.end(), group.begin(), group.end());
    values.push_back(value);
  });
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<Vertex> group_of(graph.num_vertices(), kNone);
  Vertex groups = 0;
  for (const std::size_t listed : order) {
    const std::span<const Vertex> group(members.data() + listed * arity, arity);
    if (std::any_of(group.begin(), group.end(), [&](Vertex v) { return group_of[v] != kNone; }))
      continue;
    for (const Vertex v : group) group_of[v] = groups;
    ++groups;
  }
  return group_of;
}

struct Edge {
  double affinity;
  Vertex from, to;
  friend bool operator<(const Edge& a, const Edge& b) {  // heaviest first
    if (a.affinity != b.affinity) return a.affinity > b.affinity;
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  }
};

/// Visits edges in descending order of weight. Edges are put into buckets, and a bucket is sorted
/// only when it is needed. Most pairs come from the first buckets, so most edges are never sorted.
class LazyBuckets {
 public:
  explicit LazyBuckets(const Graph& graph) {
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
      for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
        if (v < graph.to[e]) edges_.push_back({graph.affinity[e], v, graph.to[e]});
  }

  const Edge* next() {
    if (next_ == edges_.size()) return nullptr;
    if (next_ == sorted_) sort_bucket();
    return &edges_[next_++];
  }

 private:
  /// Sorts the next bucket, to which an eighth of the remaining edges belong.
  void sort_bucket() {
    const std::size_t size = std::max<std::size_t>(64, (edges_.size() - sorted_) / 8);
    const auto begin = edges_.begin() + sorted_;
    sorted_ = std::min(edges_.size(), sorted_ + size);
    const auto end = edges_.begin() + sorted_;
    std::nth_element(begin, end - 1, edges_.end());
    std::sort(begin, end);
  }

  std::vector<Edge> edges_;
  std::size_t next_ = 0, sorted_ = 0;
};

std::vector<Vertex> pairs(const Graph& graph) {
  std::vector<Vertex> group_of(graph.num_vertices(), kNone);
  Vertex groups = 0;
  LazyBuckets edges(graph);
  while (groups < graph.num_vertices() / 2) {
    const Edge* edge = edges.next();
    if (edge == nullptr) break;
    if (group_of[edge->from] == kNone && group_of[edge->to] == kNone)
      group_of[edge->from] = group_of[edge->to] = groups++;
  }
  Vertex alone = kNone;
  for (Vertex v = 0; v < graph.num_vertices(); ++v) {
    if (group_of[v] != kNone) continue;
    if (alone == kNone) {
      alone = v;
    } else {
      group_of[alone] = group_of[v] = groups++;
      alone = kNone;
    }
  }
  return group_of;
}

/// Lets the partitioner make parts of about `arity` vertices, then makes their sizes exact: from
/// each part that is too large, the vertices with the least affinity to it move to parts that are
/// too small.
std::vector<Vertex> parts(const Graph& graph, std::uint32_t arity) {
  const Vertex num_groups = graph.num_vertices() / arity;
  Graph counted = graph;
  counted.weight.assign(graph.num_vertices(), 1);
  std::vector<Vertex> group_of =
      partition(counted, {std::vector<double>(num_groups, arity), 0, {}});
  const Groups groups = arrange(group_of, num_groups);
  std::vector<Vertex> spare;
  std::vector<Vertex> size(num_groups, 0);
  for (Vertex g = 0; g < num_groups; ++g) {
    std::vector<std::pair<double, Vertex>> attached;
    for (const Vertex v : groups.of(g)) {
      double inside = 0;
      for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
        if (group_of[graph.to[e]] == g) inside += graph.affinity[e];
      attached.push_back({inside, v});
    }
    size[g] = std::min<std::size_t>(attached.size(), arity);
    std::sort(attached.begin(), attached.end());
    for (std::size_t i = 0; i + arity < attached.size(); ++i) spare.push_back(attached[i].second);
  }
  Vertex g = 0;
  for (const Vertex v : spare) {
    while (size[g] == arity) ++g;
    group_of[v] = g;
    ++size[g];
  }
  return group_of;
}

/// Exchanges elements of different groups while that increases the affinity inside groups.
class PairSwaps {
 public:
  PairSwaps(const Graph& graph, std::vector<Vertex>& group_of, Vertex num_groups)
      : graph_(graph), group_of_(group_of), pull_(num_groups, 0), members_(num_groups) {
    for (Vertex v = 0; v < graph.num_vertices(); ++v) members_[group_of[v]].push_back(v);
  }

  bool pass() {
    bool has_swapped = false;
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) has_swapped |= visit(v);
    return has_swapped;
  }

 private:
  bool visit(Vertex v) {
    const Vertex own = group_of_[v];
    near_.clear();
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const Vertex group = group_of_[graph_.to[e]];
      if (pull_[group] == 0 && group != own) near_.push_back(group);
      pull_[group] += graph_.affinity[e];
    }
    double best_gain = 0;
    Vertex best = kNone;
    for (const Vertex group : near_) {
      if (pull_[group] <= pull_[own]) continue;
      for (const Vertex u : members_[group]) {
        const double gain = pull_[group] - pull_[own] + gain_of_partner(u, v);
        if (gain <= best_gain * (1 + 1e-12)) continue;
        best_gain = gain;
        best = u;
      }
    }
    for (const Vertex group : near_) pull_[group] = 0;
    pull_[own] = 0;
    if (best == kNone) return false;
    swap(v, best);
    return true;
  }

  /// Returns how much the affinity of u to its group grows if u and v exchange their groups, minus
  /// the affinity between u and v. The subtraction corrects an error: the caller has computed the
  /// gain of v as if u stayed in its group, so that gain wrongly includes the affinity between u
  /// and v.
  double gain_of_partner(Vertex u, Vertex v) const {
    double gain = 0;
    for (std::size_t e = graph_.first[u]; e < graph_.first[u + 1]; ++e) {
      const Vertex other = graph_.to[e];
      if (other == v)
        gain -= graph_.affinity[e];
      else if (group_of_[other] == group_of_[v])
        gain += graph_.affinity[e];
      else if (group_of_[other] == group_of_[u])
        gain -= graph_.affinity[e];
    }
    return gain;
  }

  void swap(Vertex v, Vertex u) {
    auto& of_v = members_[group_of_[v]];
    auto& of_u = members_[group_of_[u]];
    std::iter_swap(std::find(of_v.begin(), of_v.end(), v), std::find(of_u.begin(), of_u.end(), u));
    std::swap(group_of_[v], group_of_[u]);
  }

  const Graph& graph_;
  std::vector<Vertex>& group_of_;
  std::vector<double> pull_;
  std::vector<Vertex> near_;
  std::vector<std::vector<Vertex>> members_;
};

}  // namespace

std::vector<Vertex> group_by_affinity(const Graph& graph, std::uint32_t arity) {
  const Vertex n = graph.num_vertices();
  POISE_CHECK(arity > 0 && n % arity == 0);
  if (arity == n) return std::vector<Vertex>(n, 0);
  if (count_groupings(n, arity) <= kStrategiesTuning.max_listed) return best_of_all(graph, arity);
  std::vector<Vertex> group_of;
  if (arity == 2)
    group_of = pairs(graph);
  else if (count_subsets(n, arity) <= kStrategiesTuning.max_listed)
    group_of = best_disjoint(graph, arity);
  else
    group_of = parts(graph, arity);
  PairSwaps swaps(graph, group_of, n / arity);
  for (int pass = 0; pass < kStrategiesTuning.exchange_passes && swaps.pass(); ++pass) {
  }
  return group_of;
}

}  // namespace poise::tree_match
