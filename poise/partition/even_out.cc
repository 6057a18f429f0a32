// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/even_out.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

namespace poise::graphs {

namespace {

/// A vertex with its weight. A set of such pairs is sorted by weight, so binary search finds a
/// vertex of about a given weight.
using Item = std::pair<double, Vertex>;
constexpr Vertex kNothing = std::numeric_limits<Vertex>::max();

class EvenOut {
 public:
  EvenOut(const Graph& graph, const Shares& shares, std::span<Part> part_of)
      : graph_(graph), shares_(shares), part_of_(part_of), weight_(shares.of_part.size(), 0) {
    for (Vertex v = 0; v < part_of.size(); ++v) weight_[part_of[v]] += graph.weight[v];
    const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    const double shared = std::accumulate(shares.of_part.begin(), shares.of_part.end(), 0.0);
    for (const double share : shares.of_part) target_.push_back(share * total / shared);
    for (Part p = 0; p < target_.size(); ++p) add(p, 0);
  }

  void run() {
    for (std::size_t step = 0; step < part_of_.size() && !over_.empty(); ++step) {
      if (items_.empty()) list_items();
      if (!swap(over_.rbegin()->second, excess_.begin()->second)) return;
    }
  }

 private:
  void list_items() {
    items_.resize(target_.size());
    for (Vertex v = 0; v < part_of_.size(); ++v)
      if (shares_.fixed.empty() || shares_.fixed[v] == kFree)
        items_[part_of_[v]].insert({graph_.weight[v], v});
  }

  /// Makes the excess weights of two parts as equal as one step can: moves a vertex whose weight is
  /// about half of the difference between them, or exchanges two vertices whose weights differ by
  /// about that amount.
  bool swap(Part from, Part to) {
    const double gap = (excess(from) - excess(to)) / 2;
    double best_off = gap;
    Item given{0, kNothing}, taken{0, kNothing};
    const auto consider = [&](const Item& leaves, const Item& comes) {
      const double off = std::fabs(leaves.first - comes.first - gap);
      if (off >= best_off) return;
      best_off = off;
      given = leaves;
      taken = comes;
    };
    // Of the vertices that weigh at most `gap`, only the heaviest is tried. Trying all of them
    // would take quadratic time if one part had most of the vertices.
    const std::set<Item>& items = items_[from];
    const auto heavier = items.upper_bound({gap, kNothing});
    auto leaves = heavier;
    if (heavier != items.begin()) leaves = items.lower_bound({std::prev(heavier)->first, 0});
    while (leaves != items.end()) {
      consider(*leaves, {0, kNothing});
      const auto next = items_[to].lower_bound({leaves->first - gap, 0});
      if (next != items_[to].end()) consider(*leaves, *next);
      if (next != items_[to].begin()) consider(*leaves, *std::prev(next));
      leaves = leaves->first <= gap ? heavier : std::next(leaves);
    }
    if (given.second == kNothing || best_off >= gap * (1 - 1e-9)) return false;
    transfer(given, from, to);
    if (taken.second != kNothing) transfer(taken, to, from);
    return true;
  }

  void transfer(const Item& item, Part from, Part to) {
    items_[from].erase(item);
    items_[to].insert(item);
    part_of_[item.second] = to;
    add(from, -item.first);
    add(to, item.first);
  }

  void add(Part p, double weight) {
    excess_.erase({excess(p), p});
    over_.erase({excess(p) - target_[p] * shares_.tolerance, p});
    weight_[p] += weight;
    excess_.insert({excess(p), p});
    const double over = excess(p) - target_[p] * shares_.tolerance;
    if (over > 0) over_.insert({over, p});
  }

  double excess(Part p) const { return weight_[p] - target_[p]; }

  const Graph& graph_;
  const Shares& shares_;
  std::span<Part> part_of_;
  std::vector<double> weight_, target_;
  std::vector<std::set<Item>> items_;  // the free vertices of each part; empty until the first swap
  // A part's limit is its share plus tolerance. excess_ holds for every part its weight minus its
  // share. over_ holds only the parts heavier than their limit, with their weight minus the limit.
  std::set<std::pair<double, Part>> excess_, over_;
};

}  // namespace

void even_out_by_swaps(const Graph& graph, const Shares& shares, std::span<Part> part_of) {
  EvenOut(graph, shares, part_of).run();
}

}  // namespace poise::graphs
