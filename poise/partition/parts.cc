// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/parts.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "poise/partition/climb.h"
#include "poise/partition/tuning.h"

namespace poise::graphs {

namespace {

/// Sums of gains whose relative difference is below this value differ only by rounding.
constexpr double kRounding = 1e-12;

class Improvement {
 public:
  Improvement(const Graph& graph, const Shares& shares, double spare, std::span<Part> part_of)
      : graph_(graph),
        fixed_(shares.fixed),
        part_of_(part_of),
        weight_(shares.of_part.size(), 0),
        max_weight_(shares.of_part),
        pull_(shares.of_part.size(), 0),
        is_due_(graph.num_vertices(), 1) {
    for (Vertex v = 0; v < graph.num_vertices(); ++v) weight_[part_of[v]] += graph.weight[v];
    const double shared = std::accumulate(max_weight_.begin(), max_weight_.end(), 0.0);
    const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    const double scale = shared > 0 ? total / shared * (1 + shares.tolerance) : 0;
    for (double& most : max_weight_) most = most > 0 ? most * scale + spare : 0;
  }

  /// Moves vertices out of overweight parts. Vertices whose move adds least to the cut per unit of
  /// their weight move first.
  void relieve() {
    bool is_needed = false;
    for (Part p = 0; p < weight_.size(); ++p) is_needed |= is_overweight(p);
    if (!is_needed) return;
    std::vector<std::uint8_t> reliefs(graph_.num_vertices(), 0);
    GainQueue queue(graph_.num_vertices());  // sorted by gain per unit of weight
    const auto enqueue = [&](Vertex v) {
      if (!is_free(v) || !is_overweight(part_of_[v]) || reliefs[v] == kPartitionTuning.max_reliefs)
        return;
      const Target target = best_target(v, true);
      if (target.part != part_of_[v])
        queue.push(v, target.gain / std::max(graph_.weight[v], 1e-300));
    };
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) enqueue(v);
    while (const auto next = queue.pop()) {
      const Vertex v = next->vertex;
      if (!is_overweight(part_of_[v])) continue;
      const Target target = best_target(v, true);
      if (target.part == part_of_[v]) continue;
      if (target.gain / std::max(graph_.weight[v], 1e-300) < next->gain) {
        enqueue(v);
        continue;
      }
      ++reliefs[v];
      move(v, target.part);
      enqueue(v);
      for (const Vertex u : neighbours(v))
        if (graph_.degree(u) <= kPartitionTuning.max_degree) enqueue(u);
    }
  }

  /// Moves each vertex to its best part if the move lowers the cut. If the cut stays equal, moves
  /// the vertex only if the new part, with the vertex, is less full than the old part was.
  bool pass() {
    bool has_moved = false;
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) {
      if (!std::exchange(is_due_[v], 0) || !is_free(v)) continue;
      const Part own = part_of_[v];
      const auto [part, gain] = best_target(v, false);
      if (part == own || gain < 0) continue;
      if (gain == 0 && fullness(part, graph_.weight[v]) >= fullness(own, 0)) continue;
      move(v, part);
      has_moved = true;
      for (const Vertex u : neighbours(v)) is_due_[u] = 1;
    }
    return has_moved;
  }

  bool climb() {
    return climb_by_gain(graph_, *this, [](std::size_t num_offered) {
      return ClimbLimits{
          kPartitionTuning.climb_patience + num_offered / kPartitionTuning.climb_patience_share,
          kPartitionTuning.max_degree, kRounding};
    });
  }

  // The member functions that climb_by_gain() calls.
  std::optional<Target> target_of(Vertex v) {
    if (!is_free(v)) return std::nullopt;
    const Target target = best_target(v, false);
    return target.part == part_of_[v] ? std::nullopt : std::optional(target);
  }
  Part part_of(Vertex v) const { return part_of_[v]; }
  void move(Vertex v, Part to) {
    weight_[part_of_[v]] -= graph_.weight[v];
    weight_[to] += graph_.weight[v];
    part_of_[v] = to;
  }

 private:
  std::span<const Vertex> neighbours(Vertex v) const {
    return {graph_.to.data() + graph_.first[v], graph_.degree(v)};
  }
  bool is_free(Vertex v) const { return fixed_.empty() || fixed_[v] == kFree; }
  bool is_overweight(Part part) const { return weight_[part] > max_weight_[part]; }

  /// Weight of the part divided by its maximum weight; nearly infinite if the maximum is 0.
  double fullness(Part part, double more) const {
    const double weight = weight_[part] + more;
    return max_weight_[part] > 0 ? weight / max_weight_[part]
                                 : weight * std::numeric_limits<double>::max();
  }

  /// Returns the part to which v should move: the one with the largest affinity to v (ties: the
  /// emptiest) among the other parts that contain neighbours of v and have room for v. Returns v's
  /// own part if there is none. With `for_relief` (v's own part is overweight), a part also has
  /// room if it would be less full with v than v's own part is now.
  Target best_target(Vertex v, bool for_relief) {
    const Part own = part_of_[v];
    const double weight = graph_.weight[v];
    double pull_of_own = 0;
    near_.clear();
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const Part part = part_of_[graph_.to[e]];
      if (part == own) {
        pull_of_own += graph_.affinity[e];
        continue;
      }
      if (pull_[part] == 0) near_.push_back(part);
      pull_[part] += graph_.affinity[e];
    }
    Target best{own, 0};
    for (const Part part : near_) {
      const double gain = std::exchange(pull_[part], 0) - pull_of_own;
      if (best.part != own && gain < best.gain) continue;
      const bool has_room = weight_[part] + weight <= max_weight_[part] ||
                            (for_relief && fullness(part, weight) < fullness(own, 0));
      if (!has_room) continue;
      if (best.part != own && gain == best.gain && fullness(part, 0) >= fullness(best.part, 0))
        continue;
      best = {part, gain};
    }
    return best;
  }

  const Graph& graph_;
  std::span<const Part> fixed_;
  std::span<Part> part_of_;
  std::vector<double> weight_, max_weight_;
  std::vector<double> pull_;  // per part: affinity of one vertex to the part; 0 between calls
  std::vector<Part> near_;
  std::vector<std::uint8_t> is_due_;
};

}  // namespace

void improve_parts(const Graph& graph, const Shares& shares, double spare,
                   std::span<Part> part_of) {
  if (graph.num_vertices() == 0) return;
  Improvement improvement(graph, shares, spare, part_of);
  improvement.relieve();
  for (int pass = 0; pass < kPartitionTuning.greedy_passes && improvement.pass(); ++pass) {
  }
  for (int i = 0; i < kPartitionTuning.climbs_of_parts && improvement.climb(); ++i) {
  }
}

}  // namespace poise::graphs
