// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/listing.h"

#include <algorithm>
#include <limits>

namespace poise::tree_match {

namespace {

constexpr Vertex kNone = std::numeric_limits<Vertex>::max();
using Visit = std::function<void(std::span<const Vertex>, double)>;

/// The first element without a group always starts the next group, so that each division into
/// groups is visited only once.
class Groupings {
 public:
  Groupings(const Matrix& affinity, std::uint32_t arity, const Visit& visit)
      : affinity_(affinity), arity_(arity), visit_(visit), group_of_(affinity.size(), kNone) {}

  void open(Vertex group, double value) {
    const auto free = std::find(group_of_.begin(), group_of_.end(), kNone);
    if (free == group_of_.end()) return visit_(group_of_, value);
    const Vertex leader = free - group_of_.begin();
    std::vector<Vertex> members{leader};
    group_of_[leader] = group;
    fill(members, leader + 1, value);
    group_of_[leader] = kNone;
  }

 private:
  void fill(std::vector<Vertex>& members, Vertex next, double value) {
    const Vertex group = group_of_[members[0]];
    if (members.size() == arity_) return open(group + 1, value);
    for (Vertex v = next; v < affinity_.size(); ++v) {
      if (group_of_[v] != kNone) continue;
      const double added = affinity_.pull(v, members);
      group_of_[v] = group;
      members.push_back(v);
      fill(members, v + 1, value + added);
      members.pop_back();
      group_of_[v] = kNone;
    }
  }

  const Matrix& affinity_;
  std::uint32_t arity_;
  const Visit& visit_;
  std::vector<Vertex> group_of_;
};

void extend_subset(const Matrix& affinity, std::uint32_t arity, const Visit& visit,
                   std::vector<Vertex>& members, Vertex next, double value) {
  if (members.size() == arity) return visit(members, value);
  for (Vertex v = next; v < affinity.size(); ++v) {
    const double added = affinity.pull(v, members);
    members.push_back(v);
    extend_subset(affinity, arity, visit, members, v + 1, value + added);
    members.pop_back();
  }
}

}  // namespace

Matrix::Matrix(const Graph& graph) : Matrix(graph.num_vertices()) {
  for (Vertex v = 0; v < size_; ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      (*this)(v, graph.to[e]) = graph.affinity[e];
}

double Matrix::pull(Vertex v, std::span<const Vertex> group) const {
  double sum = 0;
  for (const Vertex other : group) sum += (*this)(v, other);
  return sum;
}

double count_subsets(Vertex n, std::uint32_t k) {
  double count = 1;
  for (std::uint32_t i = 0; i < k; ++i) count = count * (n - i) / (i + 1);
  return count;
}

double count_groupings(Vertex n, std::uint32_t arity) {
  double count = 1;
  for (Vertex remaining = n; remaining > arity; remaining -= arity)
    count *= count_subsets(remaining - 1, arity - 1);
  return count;
}

void for_each_grouping(const Matrix& affinity, std::uint32_t arity, const Visit& visit) {
  Groupings(affinity, arity, visit).open(0, 0);
}

void for_each_subset(const Matrix& affinity, std::uint32_t arity, const Visit& visit) {
  std::vector<Vertex> members;
  extend_subset(affinity, arity, visit, members, 0, 0);
}

}  // namespace poise::tree_match
