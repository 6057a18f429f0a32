// Vertices in order of what moving them gains, where gains change while they wait.
#pragma once

#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::graphs {

/// A vertex and what moving it gains.
struct Gain {
  double gain;
  Vertex vertex;
  /// Ties: the lower vertex is the greater.
  friend bool operator<(const Gain& a, const Gain& b) {
    return std::tie(a.gain, b.vertex) < std::tie(b.gain, a.vertex);
  }
};

/// A priority queue with at most one valid entry per vertex: pushing a vertex again replaces its
/// entry. O(log pushes) each.
class GainQueue {
 public:
  explicit GainQueue(Vertex num_vertices) : gain_of_(num_vertices, kNone) {}

  void push(Vertex v, double gain) {
    gain_of_[v] = gain;
    queue_.push({gain, v});
  }

  /// The valid entry of greatest gain, removed; nothing if there is none.
  std::optional<Gain> pop() {
    while (!queue_.empty()) {
      const Gain top = queue_.top();
      queue_.pop();
      if (gain_of_[top.vertex] != top.gain) continue;
      gain_of_[top.vertex] = kNone;
      return top;
    }
    return std::nullopt;
  }

  /// Entries, replaced ones included.
  std::size_t size() const { return queue_.size(); }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // equals nothing

  std::priority_queue<Gain> queue_;
  std::vector<double> gain_of_;  // per vertex, of its valid entry; kNone: it has none
};

}  // namespace poise::graphs
