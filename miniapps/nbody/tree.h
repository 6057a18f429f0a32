// A binary tree over masses: the means to treat far groups of them as one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace poise::miniapps::nbody {

using Vector = std::array<double, 3>;
constexpr double kSoftening = 0.02;

struct Mass {
  Vector at{};
  double mass = 0;
};

struct Box {
  Vector low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};

  void add(const Vector& at) {
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], at[a]);
      high[a] = std::max(high[a], at[a]);
    }
  }
  std::size_t longest_axis() const {
    std::size_t axis = 0;
    for (std::size_t a = 1; a < 3; ++a)
      if (high[a] - low[a] > high[axis] - low[axis]) axis = a;
    return axis;
  }
  double side() const { return high[longest_axis()] - low[longest_axis()]; }
  double square_to(const Vector& at) const {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = std::max({low[a] - at[a], at[a] - high[a], 0.0});
      sum += d * d;
    }
    return sum;
  }
};

inline Box box_of(std::span<const Vector> points) {
  Box box;
  for (const Vector& at : points) box.add(at);
  return box;
}

/// Acceleration and potential at a point, softened after Plummer; the gravitational constant is 1.
struct Field {
  Vector acceleration{};
  double potential = 0;

  void add(const Vector& from, const Mass& of) {
    Vector d;
    double square = kSoftening * kSoftening;
    for (std::size_t a = 0; a < 3; ++a) {
      d[a] = of.at[a] - from[a];
      square += d[a] * d[a];
    }
    const double inverse = 1 / std::sqrt(square), strength = of.mass * inverse;
    for (std::size_t a = 0; a < 3; ++a) acceleration[a] += strength * inverse * inverse * d[a];
    potential -= strength;
  }
  Field& operator+=(const Field& other) {
    for (std::size_t a = 0; a < 3; ++a) acceleration[a] += other.acceleration[a];
    potential += other.potential;
    return *this;
  }
};

/// Groups are halved across their longest side until they are small.
class Tree {
 public:
  static constexpr std::size_t kLeaf = 8;

  explicit Tree(std::vector<Mass> masses) : masses_(std::move(masses)) {
    if (!masses_.empty()) build(0, masses_.size());
  }

  const Mass& all() const { return nodes_.front().all; }
  /// Whether all of it counts as one mass everywhere in the box.
  bool looks_small_from(const Box& box, double theta) const {
    return nodes_.front().looks_small_from(box, theta);
  }

  /// visit(mass) for groups that look smaller than theta from everywhere in the box, as one mass
  /// each, and for single masses of the others. theta 0: for every single one.
  template <typename Visit>
  void for_each_seen_from(const Box& box, double theta, Visit visit) const {
    for (std::size_t n = 0; n < nodes_.size();) {
      const Node& node = nodes_[n];
      const bool is_far = node.looks_small_from(box, theta);
      if (is_far)
        visit(node.all);
      else if (node.is_leaf)
        for (std::size_t i = node.first; i < node.end; ++i) visit(masses_[i]);
      n = is_far || node.is_leaf ? node.next : n + 1;
    }
  }

 private:
  struct Node {
    Mass all;
    double side = 0;
    std::size_t first = 0, end = 0, next = 0;  // next: after everything below
    bool is_leaf = false;

    bool looks_small_from(const Box& box, double theta) const {
      return side * side < theta * theta * box.square_to(all.at);
    }
  };

  void build(std::size_t first, std::size_t end) {
    const std::size_t number = nodes_.size();
    nodes_.emplace_back();
    Node node{.all = {}, .first = first, .end = end, .is_leaf = end - first <= kLeaf};
    Box box;
    for (std::size_t i = first; i < end; ++i) {
      box.add(masses_[i].at);
      node.all.mass += masses_[i].mass;
      for (std::size_t a = 0; a < 3; ++a) node.all.at[a] += masses_[i].mass * masses_[i].at[a];
    }
    for (double& coordinate : node.all.at) coordinate /= node.all.mass;
    node.side = box.side();
    if (!node.is_leaf) {
      const std::size_t axis = box.longest_axis();
      const auto begin = masses_.begin();
      std::sort(begin + static_cast<std::ptrdiff_t>(first),
                begin + static_cast<std::ptrdiff_t>(end), [axis](const Mass& a, const Mass& b) {
                  return a.at[axis] != b.at[axis] ? a.at[axis] < b.at[axis] : a.at < b.at;
                });
      build(first, (first + end) / 2);
      build((first + end) / 2, end);
    }
    node.next = nodes_.size();
    nodes_[number] = node;
  }

  std::vector<Mass> masses_;
  std::vector<Node> nodes_;  // depth-first
};

}  // namespace poise::miniapps::nbody
