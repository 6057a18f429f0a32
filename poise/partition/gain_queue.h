// SPDX-License-Identifier: BSD-3-Clause
// A priority queue of vertices by gain, in which the gain of a queued vertex can change.
#pragma once

#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::graphs {

/// A vertex and the gain of moving it.
struct Gain {
  double gain;
  Vertex vertex;
  /// If gains are equal, the vertex with the lower number comes first.
  friend bool operator<(const Gain& a, const Gain& b) {
    return std::tie(a.gain, b.vertex) < std::tie(b.gain, a.vertex);
  }
};

/// Holds at most one valid entry per vertex: pushing a vertex again replaces its entry. After n
/// pushes, an operation takes O(log n).
class GainQueue {
 public:
  explicit GainQueue(Vertex num_vertices) : gain_of_(num_vertices, kNone) {}

  void push(Vertex v, double gain) {
    gain_of_[v] = gain;
    queue_.push({gain, v});
  }

  /// Removes and returns the valid entry of greatest gain; nothing if there is none.
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

  /// Number of entries, including those that a later push has replaced.
  std::size_t size() const { return queue_.size(); }

 private:
  /// The gain of vertices without an entry. NaN is unequal to every gain, even to itself.
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::priority_queue<Gain> queue_;
  std::vector<double> gain_of_;  // per vertex: gain of its valid entry, or kNone
};

}  // namespace poise::graphs
